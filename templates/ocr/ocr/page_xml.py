"""PAGE XML: documents, text regions, lines, and words with their boxes."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from sluice.packs.programs import BadData, read_input
from sluice.text.visible_text import escaped

NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
_PAGE = f"{{{NAMESPACE}}}"


class Box(NamedTuple):
    """A rectangle on the page, in pixels."""

    left: int
    top: int
    width: int
    height: int

    def points(self) -> str:
        """Return the corners in the syntax of PAGE XML.

        PAGE XML has no negative coordinates.
        """
        left, top = max(self.left, 0), max(self.top, 0)
        right, bottom = max(self.left + self.width, left), max(self.top + self.height, top)
        return f"{left},{top} {right},{top} {right},{bottom} {left},{bottom}"


class Word(NamedTuple):
    """One word of a line, with the model's confidence."""

    text: str
    box: Box
    confidence: str | None


def parse_page(path: Path) -> etree._ElementTree:
    """Return the document.

    Raises:
        BadData: The file is no PAGE XML of 2019 with a page.
    """
    try:
        # Files of others get neither entities nor network access.
        parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_blank_text=True)
        tree = etree.ElementTree(etree.fromstring(read_input(path), parser))
    except etree.XMLSyntaxError as error:
        message = error.msg.partition(", line ")[0]
        raise BadData(
            path, f"not XML: {escaped(message)}", line=error.lineno or 0, column=error.offset or 0
        ) from error
    if tree.getroot().tag != f"{_PAGE}PcGts" or tree.find(f"{_PAGE}Page") is None:
        raise BadData(path, f"this is not PAGE XML of {NAMESPACE.rpartition('/')[2]}")
    return tree


def get_page(tree: etree._ElementTree) -> etree._Element:
    """Return the `Page` element."""
    return tree.find(f"{_PAGE}Page")


def iter_regions(page: etree._Element) -> Iterator[list[etree._Element]]:
    """Yield the lines of each text region."""
    for region in page.iter(f"{_PAGE}TextRegion"):
        yield list(region.iterchildren(f"{_PAGE}TextLine"))


def get_text(element: etree._Element) -> str:
    """Return the text of a line or word."""
    return element.findtext(f"{_PAGE}TextEquiv/{_PAGE}Unicode") or ""


def get_confidence(element: etree._Element) -> float | None:
    """Return the model's confidence in a line or word."""
    equivalent = element.find(f"{_PAGE}TextEquiv")
    confidence = None if equivalent is None else equivalent.get("conf")
    return None if confidence is None else float(confidence)


def insert_words(line: etree._Element, words: list[Word]) -> None:
    """Insert the words into a line, before its own text, as the schema requires."""
    place = line.index(line.find(f"{_PAGE}TextEquiv"))
    for number, word in enumerate(words, start=1):
        element = etree.Element(f"{_PAGE}Word", id=f"{line.get('id')}-w{number:03d}")
        etree.SubElement(element, f"{_PAGE}Coords", points=word.box.points())
        equivalent = etree.SubElement(element, f"{_PAGE}TextEquiv")
        if word.confidence is not None:
            equivalent.set("conf", word.confidence)
        etree.SubElement(equivalent, f"{_PAGE}Unicode").text = word.text
        line.insert(place, element)
        place += 1


def get_words(line: etree._Element) -> list[Word]:
    """Return the words that `insert_words` inserted."""
    words: list[Word] = []
    for element in line.iterchildren(f"{_PAGE}Word"):
        equivalent = element.find(f"{_PAGE}TextEquiv")
        points = element.find(f"{_PAGE}Coords").get("points").split()
        xs, ys = zip(*(map(int, point.split(",")) for point in points), strict=True)
        box = Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
        confidence = None if equivalent is None else equivalent.get("conf")
        words.append(Word(get_text(element), box, confidence))
    return words


def to_bytes(tree: etree._ElementTree) -> bytes:
    """Return the document as indented UTF-8."""
    content: bytes = etree.tostring(tree, pretty_print=True, encoding="utf-8", xml_declaration=True)
    return content
