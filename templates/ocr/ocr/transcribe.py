"""`ocr-transcribe` transcribes the lines of a page: PAGE XML with text, words, confidences."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ocr.alto import iter_line_words
from ocr.images import read_page_image
from ocr.page_xml import get_page, get_text, insert_words, iter_regions, parse_page, to_bytes
from ocr.stage_options import add_stage_options
from sluice.packs.programs import BadData, Parser, reason_in, run_command, write_complete
from sluice.warm import once, serve

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pero_ocr.core.layout import PageLayout

    from ocr.stages import Stage


@once
def _load_stage(folder: Path, threads: int) -> Stage:
    from ocr.stages import load_stage  # noqa: PLC0415 - a page that is none costs no loading

    stage = load_stage("transcribe", folder, threads)
    print(f"ocr-transcribe: loaded {folder.name}: {stage.describe()}", file=sys.stderr)
    return stage


def read_layout(path: Path) -> PageLayout:
    """Return the page that `ocr-layout` wrote.

    Raises:
        BadData: pero-ocr cannot read the file as PAGE XML.
    """
    from pero_ocr.core.layout import PageLayout  # noqa: PLC0415

    parse_page(path)
    try:
        layout = PageLayout(file=str(path))
    except (KeyError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise BadData(path, f"pero-ocr cannot read this PAGE XML ({reason_in(error)})") from error
    layout.reading_order = layout.reading_order or None  # an empty order is not valid PAGE XML
    return layout


def transcribe(stage: Stage, path: Path, image: NDArray[np.uint8], layout: PageLayout) -> bytes:
    """Return PAGE XML with the text of every line, and its words with their positions.

    pero-ocr writes the positions of words only into its ALTO, and needs the model's output for
    that. The output exists here, so this function puts the words into the PAGE XML. `ocr-export`
    then needs no model.
    """
    from lxml import etree  # noqa: PLC0415

    layout = stage.process(path, image, layout)
    page = layout.to_pagexml_string()  # before ALTO, which replaces the confidence of lines
    words = iter(iter_line_words(layout.to_altoxml_string()))
    parser = etree.XMLParser(remove_blank_text=True)
    tree = etree.ElementTree(etree.fromstring(page.encode(), parser))
    for lines in iter_regions(get_page(tree)):
        for line in lines:
            if get_text(line).strip():  # ALTO has no lines without text
                insert_words(line, next(words))
    return to_bytes(tree)


def _work(arguments: argparse.Namespace) -> None:
    image = read_page_image(arguments.image, arguments.max_megapixels)
    stage = _load_stage(arguments.config, arguments.threads)
    layout = read_layout(arguments.page)
    if layout.page_size != image.shape[:2]:
        height, width = layout.page_size
        raise BadData(
            arguments.page,
            f"its lines are of an image of {width} × {height} pixels, but {arguments.image.name} "
            f"has {image.shape[1]} × {image.shape[0]}",
        )
    write_complete(arguments.out, transcribe(stage, arguments.image, image, layout))


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ocr-transcribe` on one page, and return its exit code."""
    parser = Parser(prog="ocr-transcribe", description="Transcribe the lines of a scanned page.")
    parser.add_argument("image", type=Path, help="Image of the scanned page")
    parser.add_argument(
        "page", type=Path, help="PAGE XML file with the lines that ocr-layout wrote"
    )
    add_stage_options(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="PAGE XML file to write"
    )
    return run_command(parser, _work, argv)


def command() -> None:
    """Run `ocr-transcribe` once, or as a warm worker."""
    serve(main)
