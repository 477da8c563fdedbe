"""PAGE XML is read, and what is none is told."""

from pathlib import Path

import pytest
from lxml import etree
from ocr.page_xml import (
    NAMESPACE,
    Box,
    Word,
    page_of,
    parse_page,
    put_words,
    regions,
    text_of,
    words_of,
)
from pack_command import BadData, MissingInput

LINE = (
    f'<TextLine xmlns="{NAMESPACE}" id="l1"><Coords points="0,0"/><Baseline points="0,0"/>'
    "<TextEquiv><Unicode>one two</Unicode></TextEquiv></TextLine>"
)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"no XML", "not XML: Start tag expected"),
        (b"", "not XML: "),
        (b"<alto/>", "this is no PAGE XML of 2019-07-15"),
        (f'<PcGts xmlns="{NAMESPACE}"/>'.encode(), "this is no PAGE XML of 2019-07-15"),
    ],
)
def test_what_is_no_page_is_refused(content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "page.xml").write_bytes(content)
    with pytest.raises(BadData) as refused:
        parse_page(tmp_path / "page.xml")
    assert refused.value.reason.startswith(sentence)


def test_a_page_that_is_not_there_is_missing(tmp_path: Path) -> None:
    with pytest.raises(MissingInput):
        parse_page(tmp_path / "page.xml")


def test_entities_of_others_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "page.xml").write_text(
        f'<!DOCTYPE a [<!ENTITY s SYSTEM "{tmp_path / "secret"}">]>'
        f'<PcGts xmlns="{NAMESPACE}"><Page><TextRegion><TextLine><TextEquiv>'
        "<Unicode>&s;</Unicode></TextEquiv></TextLine></TextRegion></Page></PcGts>"
    )
    [[line]] = regions(page_of(parse_page(tmp_path / "page.xml")))
    assert "secret" not in text_of(line)


def test_words_that_are_put_are_found_again_and_stand_where_the_schema_wants_them() -> None:
    line = etree.fromstring(LINE)
    words = [Word("one", Box(1, 2, 30, 4), "0.5"), Word("two", Box(40, 2, 3, 4), None)]
    put_words(line, words)
    assert words_of(line) == words
    assert [etree.QName(child).localname for child in line] == [
        "Coords",
        "Baseline",
        "Word",
        "Word",
        "TextEquiv",
    ]
    assert text_of(line) == "one two"


def test_a_box_that_reaches_out_of_the_page_is_cut_there() -> None:
    assert Box(-4, -2, 10, 6).points() == "0,0 6,0 6,4 0,4"
    assert Box(-40, -20, 10, 6).points() == "0,0 0,0 0,0 0,0"
