"""Search for the sites of parishes with a places API."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from masstimes.places.command import KEY_VARIABLE, main, make_queries

from templates.masstimes.tests.unit.answering import Response, Server, run_answering_server

KEY = "k3y&="
NONE = {"status": "ZERO_RESULTS", "results": []}
OVER_QUOTA = {
    "status": "OVER_QUERY_LIMIT",
    "results": [],
    "error_message": f"{KEY} is over its quota",
}
Run = Callable[..., int]


def make_json_response(answer: object, status: int = 200) -> Response:
    return status, {"Content-Type": "application/json"}, json.dumps(answer)


def make_search_page(*places: str, token: str = "") -> dict[str, Any]:
    """Return a page of search results in the classic form of Google's API."""
    results = [{"place_id": place, "name": "x", "formatted_address": "y"} for place in places]
    page: dict[str, Any] = {"status": "OK" if places else "ZERO_RESULTS", "results": results}
    return page | ({"next_page_token": token} if token else {})


def make_classic_api(
    searches: Mapping[str, dict[str, Any]], details: Mapping[str, str]
) -> Callable[[str], Response]:
    """Return answers in Google's classic form; ``searches`` are keyed by text or token."""

    def answer(path: str) -> Response:
        query = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
        if urlsplit(path).path == "/textsearch/json":
            return make_json_response(searches.get(query.get("pagetoken") or query["query"], NONE))
        assert query["fields"] == "website"
        site = details.get(query["place_id"])
        return make_json_response({"status": "OK", "result": {"website": site} if site else {}})

    return answer


@pytest.fixture
def api() -> Iterator[Server]:
    with run_answering_server() as server:
        yield server


@pytest.fixture
def run(api: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the program for parishes of these names and return the exit code."""
    monkeypatch.setenv(KEY_VARIABLE, KEY)

    def run(*names: str, options: tuple[str, ...] = ()) -> int:
        paths = []
        for name in names:
            path = tmp_path / f"{name}.json"
            parish = {"id": name, "name": name, "place": "Hel", "street": "Morska 1"}
            path.write_text(json.dumps(parish))
            paths.append(str(path))
        out = ["--out", str(tmp_path / "sites"), "--without", str(tmp_path / "without")]
        more = ["--cache", str(tmp_path / "cache"), "--contact", "me@example.org", "--delays", "0"]
        more += ["--requests", str(tmp_path / "requests"), "--repeats", "1", *options]
        more += ["--spent", str(tmp_path / "spent")]
        return main([*paths, "--api", api.url, *out, *more])

    return run


def read_sites(tmp_path: Path) -> dict[str, str]:
    documents = (json.loads(path.read_text()) for path in (tmp_path / "sites").iterdir())
    return {parish["id"]: parish["site"] for parish in documents}


def list_parishes_without_site(tmp_path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in (tmp_path / "without").read_text().splitlines()]


def count_requests(tmp_path: Path) -> dict[str, int]:
    return dict(json.loads((tmp_path / "requests").read_text()))


def list_requests(api: Server) -> list[str]:
    """Return texts, tokens and places in the order of the requests."""
    queries = [parse_qs(urlsplit(path).query) for path in api.requested_paths]
    names = ("query", "pagetoken", "place_id")
    return [next(each[name][0] for name in names if name in each) for each in queries]


def test_first_result_with_a_site_wins_and_the_street_is_dropped_if_needed(
    api: Server, run: Run, tmp_path: Path
) -> None:
    api.answer = make_classic_api(
        {
            "A Hel Morska 1": make_search_page("a1", "a2", "a3"),
            "B Hel Morska 1": make_search_page("b1"),
            "B Hel": make_search_page("b2"),
        },
        {
            "a1": "javascript:x",
            "a2": "http://a.pl/",
            "a3": "http://other.pl/",
            "b2": "https://b.pl",
        },
    )
    assert run("A", "B", "C") == 0
    assert read_sites(tmp_path) == {"A": "http://a.pl/", "B": "https://b.pl"}
    assert list_parishes_without_site(tmp_path) == ["C"]
    assert list_requests(api) == [
        "A Hel Morska 1",
        "a1",
        "a2",
        "B Hel Morska 1",
        "b1",
        "B Hel",
        "b2",
        "C Hel Morska 1",
        "C Hel",
    ]
    assert count_requests(tmp_path) == {"search": 5, "detail": 4}
    assert json.loads((tmp_path / "spent").read_text()) == {"places": 54}
    assert {parse_qs(urlsplit(path).query)["key"][0] for path in api.requested_paths} == {KEY}
    assert json.loads((tmp_path / "sites" / "A.json").read_text())["place"] == "Hel"


def test_next_pages_are_read_by_their_tokens(api: Server, run: Run, tmp_path: Path) -> None:
    """A token becomes valid shortly after its page."""
    pages = make_classic_api(
        {
            "A Hel Morska 1": make_search_page("a1", token="t1"),
            "t1": make_search_page("a1", "a2", token="t2"),
            "t2": make_search_page(),
        },
        {"a2": "http://a.pl/"},
    )
    too_early = [make_json_response({"status": "INVALID_REQUEST"})]
    api.answer = lambda path: too_early.pop() if too_early and "t1" in path else pages(path)
    assert run("A", options=("--max-pages", "3")) == 0
    assert list_requests(api) == ["A Hel Morska 1", "a1", "t1", "t1", "a2"]
    assert read_sites(tmp_path) == {"A": "http://a.pl/"}


def test_token_that_stays_invalid_ends_the_pages(api: Server, run: Run, tmp_path: Path) -> None:
    pages = {
        "A Hel Morska 1": make_search_page("a1", token="old"),
        "old": {"status": "INVALID_REQUEST"},
    }
    api.answer = make_classic_api(pages, {})
    assert run("A", options=("--max-pages", "2")) == 0
    assert list_requests(api) == ["A Hel Morska 1", "a1", "old", "old", "old", "A Hel"]
    assert list_parishes_without_site(tmp_path) == ["A"]


def test_exhausted_budget_ends_the_run_and_the_cache_continues_it(
    api: Server, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    searches = {f"{name} Hel Morska 1": make_search_page(f"{name}1", f"{name}2") for name in "AB"}
    api.answer = make_classic_api(searches, {"A2": "http://a.pl/", "B2": "http://b.pl/"})
    budget = ("--max-search", "2", "--max-detail", "3")
    assert run("A", "B", options=budget) == 75
    assert "the budget of 3 detail requests is spent" in capsys.readouterr().err
    assert count_requests(tmp_path) == {"search": 2, "detail": 3}
    assert json.loads((tmp_path / "spent").read_text()) == {"places": 23}, (
        "a failed run must write the spent quota, too"
    )
    assert run("A", "B", options=budget) == 0
    assert count_requests(tmp_path) == {"search": 0, "detail": 1}
    assert read_sites(tmp_path) == {"A": "http://a.pl/", "B": "http://b.pl/"}


def test_details_of_a_search_are_limited(api: Server, run: Run, tmp_path: Path) -> None:
    api.answer = make_classic_api(
        {"A Hel Morska 1": make_search_page("a1", "a2", "a3")}, {"a3": "http://a.pl/"}
    )
    assert run("A", options=("--max-details", "2")) == 0
    assert list_requests(api) == ["A Hel Morska 1", "a1", "a2", "A Hel"]


def test_answered_request_is_never_repeated(
    api: Server, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The quota ends in between; earlier answers are kept and used by the next run."""
    site = {"status": "OK", "result": {"website": "http://a.pl/"}}
    coming = [make_search_page("a"), site, NONE, OVER_QUOTA]
    api.answer = lambda _: make_json_response(coming.pop(0))
    assert run("A", "B") == 75
    stderr = capsys.readouterr().err
    assert "The quota is used up" in stderr
    assert KEY not in stderr
    assert read_sites(tmp_path) == {"A": "http://a.pl/"}
    with (tmp_path / "cache").open("a") as cache:
        cache.write('{"request": ["google", "sea')  # a line that a killed run has not completed
    coming += [make_search_page("b"), {"status": "OK", "result": {"website": "http://b.pl/"}}]
    assert run("A", "B") == 0
    assert read_sites(tmp_path) == {"A": "http://a.pl/", "B": "http://b.pl/"}
    assert list_requests(api) == ["A Hel Morska 1", "a", "B Hel Morska 1", "B Hel", "B Hel", "b"]
    assert run("A", "B") == 0
    assert len(api.requested_paths) == 6


def test_new_form_of_the_api_searches_by_post_and_masks_fields(
    api: Server, run: Run, tmp_path: Path
) -> None:
    def answer(path: str) -> Response:
        if path != "/places:searchText":
            return make_json_response(
                {"id": "a/2", "websiteUri": "http://a.pl/"} if "2" in path else {}
            )
        page = json.loads(api.bodies[-1])
        if "pageToken" not in page:
            return make_json_response({"places": [{"id": "a1"}], "nextPageToken": "t"})
        return make_json_response({"places": [{"id": "a/2", "displayName": {"text": "A"}}]})

    api.answer = answer
    assert run("A", options=("--provider", "google-v1", "--max-pages", "2")) == 0
    assert read_sites(tmp_path) == {"A": "http://a.pl/"}
    assert [path.partition("?")[0] for path in api.requested_paths] == [
        "/places:searchText",
        "/places/a1",
        "/places:searchText",
        "/places/a%2F2",
    ]
    first, second = (json.loads(api.bodies[number]) for number in (0, 2))
    assert first == {"textQuery": "A Hel Morska 1", "languageCode": "pl", "regionCode": "pl"}
    assert second == first | {"pageToken": "t"}
    assert {headers["X-Goog-Api-Key"] for headers in api.headers} == {KEY}
    masks = [headers["X-Goog-FieldMask"].split(",") for headers in api.headers]
    assert "nextPageToken" in masks[0]
    assert masks[1] == ["id", "websiteUri"]
    assert not any(KEY in path for path in api.requested_paths)


def test_new_form_handles_deleted_places_and_refused_tokens(
    api: Server, run: Run, tmp_path: Path
) -> None:
    def answer(path: str) -> Response:
        if path != "/places:searchText":
            return make_error(404, "NOT_FOUND")
        if "pageToken" in json.loads(api.bodies[-1]):
            return make_error(400, "INVALID_ARGUMENT", "the token has expired")
        return make_json_response({"places": [{"id": "a1"}], "nextPageToken": "t"})

    api.answer = answer
    assert run("A", options=("--provider", "google-v1", "--max-pages", "2")) == 0
    assert list_parishes_without_site(tmp_path) == ["A"]
    assert count_requests(tmp_path) == {"search": 4, "detail": 1}


def test_nominatim_needs_no_key_and_no_details(
    api: Server, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    first = [{"place_id": number, "extratags": None} for number in range(10)]
    second = [{"place_id": 10, "extratags": {"contact:website": "http://a.pl/"}}]
    api.answer = lambda path: make_json_response(second if "exclude_place_ids" in path else first)
    assert run("A", options=("--provider", "nominatim", "--max-pages", "2")) == 0
    assert read_sites(tmp_path) == {"A": "http://a.pl/"}
    assert count_requests(tmp_path) == {"search": 2, "detail": 0}
    query = parse_qs(urlsplit(api.requested_paths[1]).query)
    assert query["exclude_place_ids"] == ["0,1,2,3,4,5,6,7,8,9"]
    assert (query["countrycodes"], query["extratags"]) == (["pl"], ["1"])


@pytest.mark.parametrize(
    ("tag", "site"),
    [
        ("www.parafia.pl", "http://www.parafia.pl"),
        ("parafia.pl:8080/msze?a=1", "http://parafia.pl:8080/msze?a=1"),
        (" http://x.pl ", "http://x.pl"),
        ("http://a.pl;http://b.pl", "http://a.pl"),
        ("; b.pl", "http://b.pl"),
        ("brak", None),
        ("me@parafia.pl", None),
        ("ftp://a.pl/", None),
    ],
)
def test_sites_of_openstreetmap_become_addresses(
    api: Server, run: Run, tmp_path: Path, tag: str, site: str | None
) -> None:
    api.answer = lambda _: make_json_response([{"place_id": 1, "extratags": {"website": tag}}])
    assert run("A", options=("--provider", "nominatim")) == 0
    assert read_sites(tmp_path) == ({"A": site} if site else {})


def make_error(code: int, status: str, message: str = "") -> Response:
    """Return an error in the new form of Google's API."""
    return make_json_response({"error": {"code": code, "status": status, "message": message}}, code)


@pytest.mark.parametrize(
    ("provider", "answer", "code", "message"),
    [
        ("google", make_json_response({"status": "REQUEST_DENIED"}), 77, "Check the key"),
        ("google", make_json_response(OVER_QUOTA), 75, "The quota is used up"),
        ("google", make_json_response({"status": "OVER_DAILY_LIMIT"}), 75, "The quota is used up"),
        (
            "google",
            make_json_response({"status": "UNKNOWN_ERROR"}),
            75,
            "UNKNOWN_ERROR, 2 times in a row",
        ),
        ("google", (200, {}, "<html>"), 76, "the answer is not JSON"),
        ("google", make_json_response([]), 76, "the answer has no status"),
        (
            "google",
            make_json_response({"status": "OK", "results": [1]}),
            76,
            "'results' of the answer",
        ),
        ("google", make_json_response({"status": "UNHEARD_OF"}), 76, "UNHEARD_OF"),
        ("google", (500, {}, ""), 75, "answered 500, 2 times in a row"),
        ("google", (403, {}, ""), 69, "answered 403"),
        ("google", (302, {"Location": "/elsewhere"}, ""), 69, "redirects to"),
        ("google-v1", make_error(403, "PERMISSION_DENIED", f"no {KEY}"), 77, "Check the key"),
        (
            "google-v1",
            make_error(400, "INVALID_ARGUMENT", "API key not valid"),
            77,
            "Check the key",
        ),
        ("google-v1", make_error(400, "INVALID_ARGUMENT", "mask"), 76, "INVALID_ARGUMENT: mask"),
        ("google-v1", make_error(429, "RESOURCE_EXHAUSTED"), 75, "The quota is used up"),
        ("google-v1", (403, {}, "<html>"), 76, "the answer is not JSON"),
        (
            "google-v1",
            make_json_response({"places": {}}),
            76,
            "'places' of the answer is not a list",
        ),
        ("google-v1", make_json_response([], 404), 76, "answered 404 without an error of the API"),
        ("nominatim", make_json_response({"error": "x"}), 76, "the answer is not a list of places"),
        ("nominatim", (429, {}, ""), 75, "answered 429, 2 times in a row"),
    ],
)
def test_error_of_the_api_is_reported_without_the_key(
    api: Server,
    run: Run,
    capsys: pytest.CaptureFixture[str],
    provider: str,
    answer: Response,
    code: int,
    message: str,
) -> None:
    api.answer = lambda _: answer
    assert run("A", options=("--provider", provider)) == code
    error = capsys.readouterr().err
    assert message in error
    assert KEY not in error


def test_key_is_required_and_may_be_in_a_file(
    api: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    parish, key = tmp_path / "a.json", tmp_path / "key"
    parish.write_text('{"id": "a", "name": "A"}')
    key.write_text("of the file\n")
    out = ["--out", str(tmp_path / "o"), "--without", str(tmp_path / "w")]
    arguments = [str(parish), "--api", f"{api.url}/places", *out, "--cache", str(tmp_path / "c")]
    arguments += ["--contact", "me@example.org"]
    assert main(arguments) == 64
    assert KEY_VARIABLE in capsys.readouterr().err
    api.answer = lambda _: make_json_response(NONE)
    assert main([*arguments, "--key-file", str(key)]) == 0
    assert api.requested_paths == [
        "/places/textsearch/json?query=A&region=pl&key=of+the+file&language=pl"
    ]


@pytest.mark.parametrize("text", ["{", "[]", '{"id": "a"}', '{"id": "../a", "name": "A"}'])
def test_invalid_parish_is_refused(tmp_path: Path, text: str) -> None:
    parish = tmp_path / "a.json"
    parish.write_text(text)
    rest = ["--api", "http://x/", "--out", "o", "--cache", "c", "--without", "w"]
    rest += ["--contact", "me@example.org"]
    assert main([str(parish), *rest]) == 65


def test_parish_without_a_street_or_place_has_no_duplicate_query() -> None:
    assert list(make_queries({"name": "A", "place": "Hel"})) == ["A Hel"]
    assert list(make_queries({"name": "A", "place": "", "street": "Morska"})) == ["A Morska", "A"]
