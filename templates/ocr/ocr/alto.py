"""ALTO: the words of pero-ocr's output, and its conversion from version 2 to version 4."""

from collections.abc import Iterator

from lxml import etree

from ocr.page_xml import Box, Word

#: The version that pero-ocr writes.
OLD_NAMESPACE = "http://www.loc.gov/standards/alto/ns-v2#"
NAMESPACE = "http://www.loc.gov/standards/alto/ns-v4#"
_SCHEMA = f"{NAMESPACE} http://www.loc.gov/standards/alto/v4/alto-4-4.xsd"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"


def _parse(alto: str) -> etree._Element:
    parser = etree.XMLParser(remove_blank_text=True)
    root: etree._Element = etree.fromstring(alto.encode(), parser)
    return root


def iter_line_words(alto: str) -> Iterator[list[Word]]:
    """Yield the words of each line, in pero-ocr's order."""
    for line in _parse(alto).iter(f"{{{OLD_NAMESPACE}}}TextLine"):
        yield [
            Word(word.get("CONTENT"), _box(word), word.get("WC"))
            for word in line.iterchildren(f"{{{OLD_NAMESPACE}}}String")
        ]


def _box(element: etree._Element) -> Box:
    return Box(*(int(element.get(side)) for side in ("HPOS", "VPOS", "WIDTH", "HEIGHT")))


def convert_to_alto_4(alto: str, lines: list[tuple[str, list[Word]]]) -> bytes:
    """Return pero-ocr's ALTO in version 4, with `lines` (id, words) instead of its lines.

    Version 4 renames `OCRProcessing` to `Processing`. All else that pero-ocr writes is equal.
    """
    old = _parse(alto)
    for element in old.iter(etree.Element):
        element.tag = element.tag.replace(OLD_NAMESPACE, NAMESPACE)
    root = etree.Element(f"{{{NAMESPACE}}}alto", nsmap={None: NAMESPACE, "xsi": _XSI})
    root.set(f"{{{_XSI}}}schemaLocation", _SCHEMA)
    root.extend(list(old))
    _rename_processing(root)
    for element, (identity, words) in zip(root.iter(_tag("TextLine")), lines, strict=True):
        element.set("ID", identity)
        for child in list(element):
            element.remove(child)
        _insert_words(element, words)
    etree.cleanup_namespaces(root, keep_ns_prefixes=["xsi"])
    content: bytes = etree.tostring(root, pretty_print=True, encoding="utf-8", xml_declaration=True)
    return content


def _rename_processing(root: etree._Element) -> None:
    for old in list(root.iter(_tag("OCRProcessing"))):
        parent = old.getparent()
        for step in old.iterchildren(_tag("ocrProcessingStep")):
            processing = etree.SubElement(parent, _tag("Processing"), ID=old.get("ID"))
            processing.extend(list(step))
        parent.remove(old)


def _insert_words(line: etree._Element, words: list[Word]) -> None:
    for number, word in enumerate(words):
        box = word.box
        if number:
            previous_box = words[number - 1].box
            space = etree.SubElement(line, _tag("SP"), WIDTH="4", VPOS=str(previous_box.top))
            space.set("HPOS", str(previous_box.left + previous_box.width))
        string = etree.SubElement(line, _tag("String"), CONTENT=word.text)
        string.set("HEIGHT", str(box.height))
        string.set("WIDTH", str(box.width))
        string.set("VPOS", str(box.top))
        string.set("HPOS", str(box.left))
        if word.confidence is not None:
            string.set("WC", word.confidence)


def _tag(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"
