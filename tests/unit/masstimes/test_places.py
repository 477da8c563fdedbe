"""Sites of parishes by a places API."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from masstimes.places.command import KEY_VARIABLE, main, queries

from tests.unit.masstimes.answering import Said, Server, answering

KEY = "k3y&="
NONE = {"status": "ZERO_RESULTS", "results": []}
OVER = {"status": "OVER_QUERY_LIMIT", "results": [], "error_message": f"{KEY} is over its quota"}


def hit(*sites: str | None) -> dict[str, Any]:
    place = {"name": "x", "formatted_address": "y"}
    results = [place | ({"website": site} if site else {}) for site in sites]
    return {"status": "OK", "results": results}


def as_json(answer: object) -> Said:
    return 200, {"Content-Type": "application/json"}, json.dumps(answer)


@pytest.fixture
def api() -> Iterator[Server]:
    with answering() as server:
        yield server


@pytest.fixture
def run(api: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """For parishes of these names; gives the exit code."""
    monkeypatch.setenv(KEY_VARIABLE, KEY)

    def run(*names: str) -> int:
        paths = []
        for name in names:
            path = tmp_path / f"{name}.json"
            parish = {"id": name, "name": name, "place": "Hel", "street": "Morska 1"}
            path.write_text(json.dumps(parish))
            paths.append(str(path))
        out = ["--out", str(tmp_path / "sites"), "--without", str(tmp_path / "without")]
        more = ["--cache", str(tmp_path / "cache"), "--contact", "me@example.org", "--delays", "0"]
        return main([*paths, "--api", api.url, *out, *more, "--repeats", "1"])

    return run


def sites(tmp_path: Path) -> dict[str, str]:
    found = (json.loads(path.read_text()) for path in (tmp_path / "sites").iterdir())
    return {parish["id"]: parish["site"] for parish in found}


def without(tmp_path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in (tmp_path / "without").read_text().splitlines()]


def asked(api: Server) -> list[str]:
    return [parse_qs(urlsplit(path).query)["query"][0] for path in api.asked]


def test_the_first_hit_with_a_site_wins_and_without_one_less_is_asked_for(
    api: Server, run: Callable[..., int], tmp_path: Path
) -> None:
    known = {
        "A Hel Morska 1": hit(None, "javascript:x", "http://a.pl/", "http://other.pl/"),
        "B Hel Morska 1": hit(None),
        "B Hel": hit("https://b.pl"),
    }
    api.answer = lambda path: as_json(known.get(parse_qs(urlsplit(path).query)["query"][0], NONE))
    assert run("A", "B", "C") == 0
    assert sites(tmp_path) == {"A": "http://a.pl/", "B": "https://b.pl"}
    assert without(tmp_path) == ["C"]
    assert asked(api) == ["A Hel Morska 1", "B Hel Morska 1", "B Hel", "C Hel Morska 1", "C Hel"]
    assert {parse_qs(urlsplit(path).query)["key"][0] for path in api.asked} == {KEY}
    assert json.loads((tmp_path / "sites" / "A.json").read_text())["place"] == "Hel"


def test_nothing_is_asked_for_twice(
    api: Server, run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The quota ends in between; what was answered until then is kept, and used later."""
    coming = [hit("http://a.pl/"), NONE, OVER]
    api.answer = lambda _: as_json(coming.pop(0))
    assert run("A", "B") == 75
    said = capsys.readouterr().err
    assert "the quota is used up" in said
    assert KEY not in said
    assert sites(tmp_path) == {"A": "http://a.pl/"}
    with (tmp_path / "cache").open("a") as cache:
        cache.write('{"query": "B Hel", "resul')  # killed as it wrote
    coming += [hit("http://b.pl/")]
    assert run("A", "B") == 0
    assert sites(tmp_path) == {"A": "http://a.pl/", "B": "http://b.pl/"}
    assert asked(api) == ["A Hel Morska 1", "B Hel Morska 1", "B Hel", "B Hel"]
    assert run("A", "B") == 0
    assert len(api.asked) == 4


@pytest.mark.parametrize(
    ("said", "code", "told"),
    [
        (as_json({"status": "REQUEST_DENIED"}), 77, "the key is not taken"),
        ((200, {}, "<html>"), 76, "came no JSON with a status"),
        (as_json([]), 76, "came no JSON with a status"),
        (as_json({"status": "OK", "results": [1]}), 76, "no list of results"),
        (as_json({"status": "UNHEARD_OF"}), 76, "the status 'UNHEARD_OF'"),
        ((500, {}, ""), 75, "answered 500, 2 times in a row"),
        ((403, {}, ""), 69, "answered 403"),
    ],
)
def test_what_is_wrong_with_the_api_is_told_without_the_key(
    api: Server,
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    said: Said,
    code: int,
    told: str,
) -> None:
    api.answer = lambda _: said
    assert run("A") == code
    error = capsys.readouterr().err
    assert told in error
    assert KEY not in error


def test_a_key_may_stand_in_a_file_and_has_to_be_there(
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
    api.answer = lambda _: as_json(NONE)
    assert main([*arguments, "--key-file", str(key)]) == 0
    assert api.asked == ["/places?query=A&key=of+the+file"], "once: there is no street"


@pytest.mark.parametrize("text", ["{", "[]", '{"id": "a"}', '{"id": "../a", "name": "A"}'])
def test_what_is_no_parish_is_refused(tmp_path: Path, text: str) -> None:
    parish = tmp_path / "a.json"
    parish.write_text(text)
    rest = ["--api", "http://x/", "--out", "o", "--cache", "c", "--without", "w", "--contact", "a"]
    assert main([str(parish), *rest]) == 65


def test_no_question_is_asked_twice_of_a_parish_without_a_street() -> None:
    assert list(queries({"name": "A", "place": "Hel"})) == ["A Hel"]
    assert list(queries({"name": "A", "place": "", "street": "Morska"})) == ["A Morska", "A"]
