"""Reading and writing of PAGE XML."""

from pathlib import Path

import pytest
from lxml import etree
from ocr.page_xml import (
    NAMESPACE,
    Box,
    Word,
    get_page,
    get_text,
    get_words,
    insert_words,
    iter_regions,
    parse_page,
)

from sluice.packs.programs import BadData, MissingInput

LINE = (
    f'<TextLine xmlns="{NAMESPACE}" id="l1"><Coords points="0,0"/><Baseline points="0,0"/>'
    "<TextEquiv><Unicode>one two</Unicode></TextEquiv></TextLine>"
)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"no XML", "not XML: Start tag expected"),
        (b"", "not XML: "),
        (b"<alto/>", "this is not PAGE XML of 2019-07-15"),
        (f'<PcGts xmlns="{NAMESPACE}"/>'.encode(), "this is not PAGE XML of 2019-07-15"),
    ],
)
def test_invalid_page_xml_is_refused(content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "page.xml").write_bytes(content)
    with pytest.raises(BadData) as refused:
        parse_page(tmp_path / "page.xml")
    assert refused.value.reason.startswith(sentence)


def test_missing_page_xml_is_reported(tmp_path: Path) -> None:
    with pytest.raises(MissingInput):
        parse_page(tmp_path / "page.xml")


def test_external_entities_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "page.xml").write_text(
        f'<!DOCTYPE a [<!ENTITY s SYSTEM "{tmp_path / "secret"}">]>'
        f'<PcGts xmlns="{NAMESPACE}"><Page><TextRegion><TextLine><TextEquiv>'
        "<Unicode>&s;</Unicode></TextEquiv></TextLine></TextRegion></Page></PcGts>"
    )
    [[line]] = iter_regions(get_page(parse_page(tmp_path / "page.xml")))
    assert "secret" not in get_text(line)


def test_inserted_words_are_read_back_and_follow_the_baseline() -> None:
    line = etree.fromstring(LINE)
    words = [Word("one", Box(1, 2, 30, 4), "0.5"), Word("two", Box(40, 2, 3, 4), None)]
    insert_words(line, words)
    assert get_words(line) == words
    assert [etree.QName(child).localname for child in line] == [
        "Coords",
        "Baseline",
        "Word",
        "Word",
        "TextEquiv",
    ]
    assert get_text(line) == "one two"


def test_box_beyond_the_page_is_clipped() -> None:
    assert Box(-4, -2, 10, 6).points() == "0,0 6,0 6,4 0,4"
    assert Box(-40, -20, 10, 6).points() == "0,0 0,0 0,0 0,0"
