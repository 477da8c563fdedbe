"""Conversion of ALTO 2 of pero-ocr to ALTO 4, with the words of the page."""

from lxml import etree
from ocr.alto import NAMESPACE, OLD_NAMESPACE, convert_to_alto_4, iter_line_words
from ocr.page_xml import Box, Word

ALTO = f"""<alto xmlns="{OLD_NAMESPACE}"><Description><MeasurementUnit>pixel</MeasurementUnit>
<OCRProcessing ID="IdOcr"><ocrProcessingStep><processingDateTime>then</processingDateTime>
</ocrProcessingStep></OCRProcessing></Description><Layout><Page><PrintSpace><TextBlock>
<TextLine ID="x"><String CONTENT="on" HPOS="1" VPOS="2" WIDTH="3" HEIGHT="4" WC="0.25"/>
<SP/><String CONTENT="of" HPOS="7" VPOS="2" WIDTH="3" HEIGHT="4"/></TextLine>
<TextLine ID="y"/></TextBlock></PrintSpace></Page></Layout></alto>"""


def _make_tag(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"


def test_words_are_read_by_line_with_box_and_confidence() -> None:
    assert list(iter_line_words(ALTO)) == [
        [Word("on", Box(1, 2, 3, 4), "0.25"), Word("of", Box(7, 2, 3, 4), None)],
        [],
    ]


def test_converted_document_is_alto_version_4() -> None:
    root = etree.fromstring(convert_to_alto_4(ALTO, [("a", []), ("b", [])]))
    assert {etree.QName(element).namespace for element in root.iter()} == {NAMESPACE}
    assert root.find(f".//{_make_tag('OCRProcessing')}") is None
    processing = root.find(f"{_make_tag('Description')}/{_make_tag('Processing')}")
    assert processing.get("ID") == "IdOcr"
    assert processing.findtext(_make_tag("processingDateTime")) == "then"


def test_lines_get_the_given_words() -> None:
    words = [Word("new", Box(10, 20, 30, 40), "0.5"), Word("words", Box(45, 20, 5, 40), None)]
    root = etree.fromstring(convert_to_alto_4(ALTO, [("a", words), ("b", [])]))
    first, second = root.iter(_make_tag("TextLine"))
    assert (first.get("ID"), second.get("ID"), len(second)) == ("a", "b", 0)
    strings = first.findall(_make_tag("String"))
    assert [string.get("CONTENT") for string in strings] == ["new", "words"]
    assert [string.get("WC") for string in strings] == ["0.5", None]
    space = first.find(_make_tag("SP"))
    assert (space.get("HPOS"), space.get("VPOS")) == ("40", "20")
