"""Lists of parishes from pages of dioceses."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from masstimes.parishes.columns import find_columns
from masstimes.parishes.command import main
from masstimes.parishes.identity import assign_ids
from masstimes.parishes.robots import Robots
from masstimes.polite import PoliteClient
from masstimes.request_policy import RequestPolicy

from templates.masstimes.tests.unit.answering import Response, Server, run_answering_server

FIRST = """<h1>Diecezja: gdańska</h1><h2>Dekanat Hel</h2>
<table><tr><th>Lp.</th><th>PARAFIA</th><th>Miejscowość</th><th>Adres:</th></tr>
<tr><td>1</td><td>Bożego Ciała</td><td>Hel</td><td>ul. Gdańska 3, 84-150 Hel</td></tr>
<tr><td>2</td><td> </td><td>Jurata</td><td>Wojska 1</td></tr></table>
<a href="/2.html">Następna strona »</a>"""
SECOND = """<table><caption>Dekanat Puck</caption>
<tr><td>Wezwanie parafii</td><td>Miejscowość</td><td>Województwo</td></tr>
<tr><td>Św. Trójcy</td><td rowspan=2>Puck</td><td>pomorskie</td></tr>
<tr><td>Ducha Św.</td><td>pomorskie</td></tr></table>"""


@pytest.fixture
def server() -> Iterator[Server]:
    with run_answering_server() as server:
        pages = {"/1.html": FIRST, "/2.html": SECOND}
        server.answer = lambda path: (200 if path in pages else 404, {}, pages.get(path, ""))
        yield server


def run(tmp_path: Path, *arguments: str) -> int:
    out = ["--out", str(tmp_path / "parishes.csv"), "--split", str(tmp_path / "split")]
    return main([*arguments, *out, "--contact", "crawler@example.org", "--delays", "0"])


def read_table(tmp_path: Path) -> list[dict[str, str]]:
    with (tmp_path / "parishes.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_next_pages_are_followed_and_columns_are_found_by_name(
    server: Server, tmp_path: Path
) -> None:
    assert run(tmp_path, f"{server.url}/1.html") == 0
    hel, trinity, spirit = read_table(tmp_path)
    assert hel == {
        "id": "hel-bozego-ciala",
        "name": "Bożego Ciała",
        "place": "Hel",
        "street": "ul. Gdańska 3",
        "address": "ul. Gdańska 3, 84-150 Hel",
        "deanery": "Hel",
        "diocese": "gdańska",
        "voivodeship": "",
    }
    assert (trinity["place"], trinity["deanery"], trinity["voivodeship"]) == (
        "Puck",
        "Puck",
        "pomorskie",
    )
    assert (spirit["name"], spirit["place"]) == ("Ducha Św.", "Puck"), "the cell spans two rows"
    assert server.requested_paths == ["/robots.txt", "/1.html", "/2.html"]


@pytest.mark.parametrize(
    ("encoding", "meta", "header"),
    [
        ("iso-8859-2", "", ""),
        ("cp1250", "", ""),
        ("cp1250", "windows-1250", "; charset=iso-8859-1"),
        ("iso-8859-2", "", "; charset=utf-8"),
        ("utf-8", "", "; charset=iso-8859-2"),
    ],
)
def test_missing_and_wrong_encodings_are_corrected(
    server: Server, tmp_path: Path, encoding: str, meta: str, header: str
) -> None:
    page = f"<meta charset={meta}>{SECOND}" if meta else SECOND
    response: Response = (200, {"Content-Type": f"text/html{header}"}, page.encode(encoding))
    server.answer = lambda _: response
    assert run(tmp_path, f"{server.url}/2.html") == 0
    parishes = [(row["name"], row["place"], row["voivodeship"]) for row in read_table(tmp_path)]
    assert parishes == [("Św. Trójcy", "Puck", "pomorskie"), ("Ducha Św.", "Puck", "pomorskie")]


def test_each_parish_has_its_own_file(server: Server, tmp_path: Path) -> None:
    assert run(tmp_path, f"{server.url}/1.html") == 0
    files = {path.stem: json.loads(path.read_text()) for path in (tmp_path / "split").iterdir()}
    assert files == {row["id"]: row for row in read_table(tmp_path)}


def test_rows_without_a_name_are_reported(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, f"{server.url}/1.html") == 0
    warning = f"{server.url}/1.html: table 1, row 3: no name, left out: 2 | Jurata | Wojska 1"
    assert warning in capsys.readouterr().err


def test_addresses_are_read_from_a_file(server: Server, tmp_path: Path) -> None:
    addresses = tmp_path / "addresses"
    addresses.write_text(f"# dioceses\n\n{server.url}/2.html\n{server.url}/2.html\n")
    assert run(tmp_path, "--addresses", str(addresses)) == 0
    assert len(read_table(tmp_path)) == 2
    assert server.requested_paths == ["/robots.txt", "/2.html"]


@pytest.mark.parametrize(
    ("link", "warning"),
    [
        ("<a rel=next href='http://elsewhere.example/'>x</a>", "is on another host"),
        ("<a rel=next href='?page=1'>x</a>", "2 pages have been (--max-pages)"),
        ("<a href='/1.html'>dalej</a>", ""),
        ("<a href='http://[x'>dalej</a>", ""),
    ],
)
def test_walk_through_pages_ends(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], link: str, warning: str
) -> None:
    counter = iter(range(100))
    server.answer = lambda _: (200, {}, SECOND + link.replace("?page=1", f"?page={next(counter)}"))
    assert run(tmp_path, f"{server.url}/1.html", "--max-pages", "2") == 0
    assert warning in capsys.readouterr().err
    assert len(server.requested_paths) <= 3


@pytest.mark.parametrize("page", ["", "<p>nic</p>", "<table><tr><td>Lp.</td></tr></table>", "\0"])
def test_pages_without_parishes_are_reported(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], page: str
) -> None:
    server.answer = lambda _: (200, {}, page)
    assert run(tmp_path, f"{server.url}/1.html") == 65
    assert "no parish is on the pages of" in capsys.readouterr().err
    assert not (tmp_path / "parishes.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give addresses of pages"),
        (["ftp://example.org/"], "is not the address of a web page"),
        (["http://example.org/", "--contact", " "], "is not an email address"),
        (
            ["http://p.invalid/", "--repeats", "0", "--contact", "notanaddress"],
            "is not an email address",
        ),
        (
            ["http://p.invalid/", "--repeats", "0", "--contact", "me@localhost"],
            "is not an email address",
        ),
    ],
)
def test_wrong_usage_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    contact = [] if "--contact" in arguments else ["--contact", "crawler@example.org"]
    assert main([*arguments, *contact, "--out", str(tmp_path / "out")]) == 64
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (["Nazwa parafii", "ulica", "woj."], {"name": 0, "street": 1, "voivodeship": 2}),
        (["Parafia pw.", "ARCHIDIECEZJA", "dekanat:"], {"name": 0, "diocese": 1, "deanery": 2}),
        (["Id", "Miasto", "Tytuł kościoła", "Miejsce"], {"id": 0, "place": 1, "name": 2}),
        (["Telefon", "Parafianie"], {}),
    ],
)
def test_polish_headers_name_the_columns(header: list[str], expected: dict[str, int]) -> None:
    assert find_columns(header) == expected


def test_identifiers_are_unique_file_names() -> None:
    def parish(name: str, street: str) -> dict[str, str]:
        return {"id": "", "name": name, "place": "Łódź", "street": street}

    parishes, again = assign_ids(
        [parish("św. Anny", "a"), parish("św. Anny", "b"), parish("../?", "c"), parish("../?", "c")]
    )
    assert [each["id"] for each in parishes] == ["lodz-sw-anny", "lodz-sw-anny-2", "lodz"]
    assert again == 1


def test_page_that_robots_txt_forbids_is_not_read(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = {"/1.html": FIRST, "/robots.txt": "User-agent: mt-parishes\nDisallow: /2.html\n"}
    server.answer = lambda path: (200, {}, pages[path])
    assert run(tmp_path, f"{server.url}/1.html") == 69
    assert "/robots.txt forbids this page" in capsys.readouterr().err
    assert server.requested_paths == ["/robots.txt", "/1.html"]


@pytest.mark.parametrize(("status", "code"), [(503, 75), (501, 69), (404, 0), (403, 0)])
def test_robots_txt_that_answers_5xx_forbids_everything(
    server: Server, tmp_path: Path, status: int, code: int
) -> None:
    def answer(path: str) -> Response:
        return (status, {}, "") if path == "/robots.txt" else (200, {}, SECOND)

    server.answer = answer
    assert run(tmp_path, f"{server.url}/2.html", "--repeats", "1") == code
    assert ("/2.html" in server.requested_paths) == (code == 0)


def test_large_robots_txt_that_has_moved_is_obeyed(server: Server, tmp_path: Path) -> None:
    with run_answering_server() as other:
        rules = "User-agent: *\nDisallow: /1.html\n" + "#" * 21_000_000
        other.answer = lambda _: (200, {}, rules)
        moved: Response = (302, {"Location": f"{other.url}/rules"}, "")
        server.answer = lambda path: moved if path == "/robots.txt" else (200, {}, SECOND)
        assert run(tmp_path, f"{server.url}/1.html") == 69
        assert (server.requested_paths, other.requested_paths) == (["/robots.txt"], ["/rules"])
        assert run(tmp_path, f"{server.url}/2.html") == 0


@pytest.mark.parametrize(("crawl_delay", "pause"), [("40", 40.0), ("1e9", 300.0), ("0.1", 1.0)])
def test_crawl_delay_is_the_least_pause(server: Server, crawl_delay: str, pause: float) -> None:
    server.answer = lambda _: (200, {}, f"User-agent: *\nCrawl-delay: {crawl_delay}\n")
    waits: list[float] = []
    with PoliteClient(
        "mt-parishes", RequestPolicy("crawler@example.org"), sleep=waits.append
    ) as polite:
        Robots(polite).require(f"{server.url}/1.html")
        polite.get(f"{server.url}/1.html")
    assert waits == [pause]
