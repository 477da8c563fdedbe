"""Errors of the packs' programs are safe to print, and their demonstrations are described."""

import argparse
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from collage import demo as collage_demo
from masstimes import demo as masstimes_demo
from masstimes.hours import clock
from masstimes.request_policy import web_address
from ocr import demo as ocr_demo
from ocr.page_xml import parse_page
from spd import demo as spd_demo
from spd.frame import HEADER_BYTES, decode_frame, period_bytes

from sluice.packs.programs import (
    BadData,
    MissingInput,
    UsageError,
    parse_json,
    positive,
    read_input,
    reason_in,
)

HOSTILE = "it's\x1b[2J\u202e" + "x" * 300
SHOWN = "'it's\\x1b[2J\\u202e" + "x" * 191


@pytest.mark.parametrize("refuse", [positive, web_address, clock, period_bytes])
def test_refused_text_is_quoted(refuse: Callable[[str], object]) -> None:
    with pytest.raises((argparse.ArgumentTypeError, UsageError, ValueError)) as refused:
        refuse(HOSTILE)
    assert f"{SHOWN}…'" in str(refused.value)


def test_refused_bytes_are_quoted() -> None:
    with pytest.raises(BadData) as refused:
        decode_frame(b"\xff\n'a" + bytes(HEADER_BYTES), Path("f.raw"))
    assert "it begins with '\\xff\\n'a\\x00" in str(refused.value)


def test_file_names_in_errors_are_escaped() -> None:
    with pytest.raises(MissingInput, match=r"^a\\nb: cannot be read \(No such file or directory"):
        read_input(Path("a\nb"))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (b'{"a": 1,\n "b"}', 1, "p.json:2:5: not JSON: expecting ':' delimiter"),
        (b"{", 7, "p.json:7:2: not JSON: expecting property name"),
        (b"a\xff", 7, "p.json:7: not JSON: byte 2 is not valid UTF-8"),
        (b"[" * 100_000, 1, "p.json:1: not JSON: it has lists and objects too deep in others"),
    ],
)
def test_place_of_wrong_json_is_named(text: bytes, line: int, message: str) -> None:
    with pytest.raises(BadData) as refused:
        parse_json(Path("p.json"), text, line)
    assert str(refused.value).startswith(message)


def test_place_of_wrong_xml_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.xml"
    page.write_text("<a>\n  <b></a>")
    with pytest.raises(BadData) as refused:
        parse_page(page)
    assert str(refused.value).startswith(f"{page}:2:")
    assert "(" not in str(refused.value)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (KeyError("pages"), "'pages' is missing"),
        (TypeError("f() got an unexpected keyword argument 'x'"), "has the wrong type"),
        (OSError(2, "No such file or directory", "a"), "No such file or directory"),
        (ValueError("two\nlines"), "two lines"),
    ],
)
def test_reasons_have_no_names_of_python(error: Exception, reason: str) -> None:
    assert reason_in(error).endswith(reason)


@pytest.mark.parametrize("pack", [spd_demo, ocr_demo, collage_demo, masstimes_demo])
def test_help_of_a_demonstration_has_a_complete_sentence(
    pack: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        pack.main(["--help"])
    description = capsys.readouterr().out.split("\n\n")[1]
    assert description.rstrip().endswith(".")
