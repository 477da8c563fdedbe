"""Hostile pages cannot crash the programs or keep them busy."""

from pathlib import Path

import pytest
from masstimes.cpu_time import CpuTimeExceeded, limit_cpu_time
from masstimes.crawl.addresses import normalise_address, without_sessions
from masstimes.crawl.decoding import decode_page
from masstimes.crawl.links import find_links
from masstimes.pages import read_lines
from masstimes.rules import find_order
from masstimes.table.files import as_csv
from masstimes.text import page_text

from sluice.packs.programs import BadData

PAGE = "http://parish.test/"


@pytest.mark.parametrize(
    "link",
    ["http://..parish.test/x", "http://a..parish.test/", f"http://{'a' * 64}.parish.test/", "//./"],
)
def test_invalid_host_name_gives_no_address(link: str) -> None:
    assert normalise_address(link, PAGE) is None


@pytest.mark.parametrize(
    ("link", "there"),
    [
        ("http://[::1]:7717/a", "http://[::1]:7717/a"),
        ("http://[::1]/", "http://[::1]/"),
        ("http://parafia-święta.test/", "http://parafia-święta.test/"),
    ],
)
def test_ip_addresses_and_international_host_names_are_kept(link: str, there: str) -> None:
    assert normalise_address(link) == there


def test_refresh_with_many_blanks_is_ignored_quickly() -> None:
    blanks = " " * 300_000
    assert find_links(f'<meta http-equiv=refresh content="{blanks}x"><a href="/b">b</a>', PAGE) == [
        ("http://parish.test/b", "b")
    ]
    sends = '<meta http-equiv="Refresh" content=" 5 ; URL = \'/c\'">'
    assert find_links(sends, PAGE) == [("http://parish.test/c", "")]


def test_repeated_session_names_are_handled_quickly() -> None:
    assert without_sessions("aspsessionid" * 60_000)
    assert without_sessions("a?ASPSESSIONIDQQ=HLKJ&b") == "a?&b"


@pytest.mark.parametrize("encoding", ["undefined", "idna", "punycode", "unicode_escape", "utf-7"])
def test_page_in_any_encoding_is_decoded(encoding: str) -> None:
    body = b"<html>\xb1\xb6 abc \xff\xfe msze"
    assert "abc" in decode_page(body, f"text/html; charset={encoding}")


@pytest.mark.parametrize(
    "html",
    [
        "<!--" * 100_000 + "Sunday 9:00",
        "<![CDATA[" * 50_000 + "Sunday 9:00",
        '<a href="' * 50_000 + "Sunday 9:00",
        "<p>&#" + "9" * 10_000 + ";</p>Sunday 9:00",
        "<![foo bar]]>Sunday 9:00",
    ],
)
def test_page_that_cannot_be_parsed_in_time_is_read_as_text(
    html: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("masstimes.text._SECONDS", 0.2)
    monkeypatch.setattr("masstimes.text._SECONDS_A_MIB", 0.0)
    assert "Sunday 9:00" in page_text(html)


def test_processor_time_is_limited() -> None:
    def spend() -> None:
        while True:
            pass

    with pytest.raises(CpuTimeExceeded), limit_cpu_time(0.05):
        spend()
    with limit_cpu_time(0.05):
        pass


def test_thousands_of_headings_are_handled_quickly() -> None:
    assert find_order("msza święta " * 10_000 + " w tygodniu") is None
    assert find_order("7, " * 25_000) is None
    many = "msza święta niedziela 7:00 w tygodniu\n" * 2_500
    assert find_order(many.replace("7:00", "") + "\n" * 25_000) is None
    assert find_order(many + "\n" * 25_000) is not None
    order = find_order("msza święta " * 10_000 + "niedziela 9:00 w tygodniu 7:00")
    assert order is not None
    assert (order.sundays, order.weekdays) == (("09:00",), ("07:00",))


def test_csv_table_contains_no_formulas() -> None:
    names = ("parish", "domain", "day", "time", "url", "sentence", "source")
    row = {name: "=cmd|'/c calc'!A0" for name in names} | {"probability": 0.5}
    others = {name: start for name, start in zip(names, "+-@\t\rab", strict=True)}
    [_, first, *_] = as_csv([row, {**others, "probability": None}]).decode().split("\n")
    assert first.count("'=cmd") == len(names)


def test_lone_surrogate_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"url": "x\\ud800"}\n')
    with pytest.raises(BadData, match="an unpaired surrogate"):
        list(read_lines(path, fields=("url",)))
