"""`ocr-volume` makes one text of the pages of a volume, a METS file and a table of confidences.

The METS file names all files of each page.
"""

import argparse
import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from ocr.mets import PageFiles, make_mets
from ocr.page_xml import get_confidence, get_page, get_text, get_words, iter_regions, parse_page
from sluice.packs.programs import (
    BadData,
    Parser,
    UsageError,
    finite,
    read_input,
    run_command,
    write_complete,
)
from sluice.text.visible_text import quoted

COLUMNS = (
    "order",
    "page",
    "regions",
    "lines",
    "words",
    "characters",
    "mean_line_confidence",
    "mean_word_confidence",
    "lowest_word_confidence",
    "words_to_check",
)


class Confidences(NamedTuple):
    """The amount of text of a page, and the model's confidence in its lines and words."""

    regions: int
    characters: int
    lines: list[float]
    words: list[float]

    def row(self, order: int, page: str, sure: float) -> list[object]:
        """Return the row of the page in the table."""
        return [
            order,
            page,
            self.regions,
            len(self.lines),
            len(self.words),
            self.characters,
            _format_confidence(fmean(self.lines) if self.lines else None),
            _format_confidence(fmean(self.words) if self.words else None),
            _format_confidence(min(self.words, default=None)),
            sum(1 for word in self.words if word < sure),
        ]


def _format_confidence(number: float | None) -> str:
    return "" if number is None else f"{number:.3f}"


def read_confidences(path: Path) -> Confidences:
    """Return the confidences of a page of `ocr-transcribe`."""
    page_regions = [lines for lines in iter_regions(get_page(parse_page(path))) if lines]
    lines = [line for region in page_regions for line in region if get_text(line).strip()]
    return Confidences(
        regions=len(page_regions),
        characters=sum(len(get_text(line)) for line in lines),
        lines=[confidence for line in lines if (confidence := get_confidence(line)) is not None],
        words=[
            float(word.confidence)
            for line in lines
            for word in get_words(line)
            if word.confidence is not None
        ],
    )


def _page_name(path: Path) -> str:
    """Return the name that all files of a page share, without the tools' extensions."""
    return path.name.removesuffix(path.suffix).removesuffix(".alto")


def gather(pages: Sequence[Path], altos: Sequence[Path], texts: Sequence[Path]) -> list[PageFiles]:
    """Return the files of each page, in the order of the pages.

    A page may have no ALTO or no text.

    Raises:
        BadData: A page comes twice, or an ALTO or text belongs to no page.
    """
    by_name = {_page_name(path): PageFiles(_page_name(path), path) for path in pages}
    if len(by_name) < len(pages):
        names = [_page_name(path) for path in pages]
        duplicate = next(path for path in pages if names.count(_page_name(path)) > 1)
        raise BadData(duplicate, "a page of this name comes twice in the volume")
    for path in altos:
        name = _check_page_name(path, by_name)
        by_name[name] = by_name[name]._replace(alto=path)
    for path in texts:
        name = _check_page_name(path, by_name)
        by_name[name] = by_name[name]._replace(text=path)
    return list(by_name.values())


def _check_page_name(path: Path, by_name: Mapping[str, PageFiles]) -> str:
    if (name := _page_name(path)) not in by_name:
        raise BadData(path, "this is of none of the pages of the volume")
    return name


def _iter_volume_text(pages: Sequence[PageFiles]) -> Iterator[bytes]:
    for page in pages:
        if page.text is not None:
            # A form feed ends a page, as in the output of pdftotext.
            yield read_input(page.text) + b"\f"


def _work(arguments: argparse.Namespace) -> None:
    name: str = arguments.name
    if "/" in name or not name.strip() or name.startswith("."):
        raise UsageError(f"--name {quoted(name)} cannot be the name of a file")
    pages = gather(arguments.pages, arguments.altos, arguments.texts)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for order, page in enumerate(pages, start=1):
        writer.writerow(read_confidences(page.page).row(order, page.name, arguments.sure))
    folder: Path = arguments.out
    write_complete(folder / f"{name}.txt", b"".join(_iter_volume_text(pages)))
    write_complete(folder / f"{name}.mets.xml", make_mets(name, pages))
    write_complete(folder / f"{name}.confidences.csv", table.getvalue().encode())


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ocr-volume` and return its exit code."""
    parser = Parser(
        prog="ocr-volume",
        description="Join the pages of a volume: one text, a METS file and a table of confidences.",
    )
    add = parser.add_argument
    many: dict[str, Any] = {"type": Path, "nargs": "*", "default": [], "metavar": "FILE"}
    add("--name", required=True, metavar="NAME", help="Name of the volume and of its files")
    add(
        "--pages",
        **many,
        help="PAGE XML files that ocr-transcribe wrote, in the order of the pages (default: none)",
    )
    add("--altos", **many, help="ALTO files of these pages (default: none)")
    add("--texts", **many, help="Text files of these pages (default: none)")
    add(
        "--sure",
        type=finite,
        default=0.5,
        metavar="CONFIDENCE",
        help="Count words with a confidence below this number between 0 and 1 as words to check"
        " (default: %(default)s)",
    )
    add(
        "--out",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="Folder to write the files to (default: the current folder)",
    )
    return run_command(parser, _work, argv)
