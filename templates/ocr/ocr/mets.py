"""METS: the files of each page of a volume, and the order of the pages."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from lxml import etree

from sluice.packs.programs import read_input

NAMESPACE = "http://www.loc.gov/METS/"
XLINK = "http://www.w3.org/1999/xlink"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_SCHEMA = f"{NAMESPACE} http://www.loc.gov/standards/mets/mets.xsd"

#: The use of the file group and the media type, by kind of file.
GROUPS = {
    "page": ("PAGE", "application/vnd.prima.page+xml"),
    "alto": ("ALTO", "application/alto+xml"),
    "text": ("TEXT", "text/plain"),
}


class PageFiles(NamedTuple):
    """The files of one page."""

    name: str
    page: Path
    alto: Path | None = None
    text: Path | None = None


def make_mets(volume: str, pages: Sequence[PageFiles]) -> bytes:
    """Return the METS document, without a date, so that equal pages give equal bytes."""
    nsmap = {None: NAMESPACE, "xlink": XLINK, "xsi": _XSI}
    root = etree.Element(f"{{{NAMESPACE}}}mets", nsmap=nsmap)
    root.set(f"{{{_XSI}}}schemaLocation", _SCHEMA)
    root.set("LABEL", volume)
    section = _add(root, "fileSec")
    present: dict[str, dict[int, Path]] = {}
    for kind, (use, _) in GROUPS.items():
        files = {
            order: path
            for order, page in enumerate(pages, start=1)
            if (path := getattr(page, kind)) is not None
        }
        if files:  # METS has no empty groups
            present[kind] = files
            group = _add(section, "fileGrp", USE=use)
            for order, path in files.items():
                _add_file(group, kind, order, path)
    if not present:
        root.remove(section)
    structure = _add(root, "structMap", TYPE="PHYSICAL")
    volume_element = _add(structure, "div", TYPE="volume", LABEL=volume)
    for order, page in enumerate(pages, start=1):
        numbers = {"ID": f"PHYS_{order:05d}", "ORDER": str(order), "ORDERLABEL": str(order)}
        element = _add(volume_element, "div", TYPE="page", LABEL=page.name, **numbers)
        for kind, files in present.items():
            if order in files:
                _add(element, "fptr", FILEID=_file_id(kind, order))
    content: bytes = etree.tostring(root, pretty_print=True, encoding="utf-8", xml_declaration=True)
    return content


def _add_file(group: etree._Element, kind: str, order: int, path: Path) -> None:
    content = read_input(path)
    element = _add(
        group,
        "file",
        ID=_file_id(kind, order),
        MIMETYPE=GROUPS[kind][1],
        SIZE=str(len(content)),
        CHECKSUM=hashlib.sha256(content).hexdigest(),
        CHECKSUMTYPE="SHA-256",
    )
    location = _add(element, "FLocat", LOCTYPE="URL")
    location.set(f"{{{XLINK}}}href", quote(path.name))


def _file_id(kind: str, order: int) -> str:
    return f"{GROUPS[kind][0]}_{order:05d}"


def _add(parent: etree._Element, name: str, **attributes: str) -> etree._Element:
    return etree.SubElement(parent, f"{{{NAMESPACE}}}{name}", **attributes)
