"""`ocr-export` writes a transcribed page as ALTO 4 and as plain text, without a model."""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from ocr.alto import convert_to_alto_4
from ocr.page_xml import NAMESPACE, Word, get_page, get_text, get_words, iter_regions, parse_page
from sluice.packs.programs import BadData, Parser, reason_in, run_command, write_complete
from sluice.warm import serve


def plain_text(page: list[list[str]]) -> str:
    """Return a line of text for each line, with an empty line between regions."""
    return "\n".join("".join(f"{line}\n" for line in lines) for lines in page if lines)


def export(path: Path) -> tuple[bytes, str]:
    """Return the ALTO and the text of a page.

    Raises:
        BadData: The file is no page that pero-ocr can export.
    """
    from pero_ocr.core.layout import PageLayout, create_ocr_processing_element  # noqa: PLC0415

    tree = parse_page(path)
    page = get_page(tree)
    texts: list[list[str]] = []
    words: list[tuple[str, list[Word]]] = []
    for region_lines in iter_regions(page):
        text_lines = [line for line in region_lines if get_text(line).strip()]
        texts.append([get_text(line) for line in text_lines])
        words.extend((line.get("id"), get_words(line)) for line in text_lines)
    # pero-ocr warns about lines without logits. The page already has the positions and
    # confidences of the words.
    logging.getLogger("pero_ocr.core.layout").setLevel(logging.ERROR)
    processing = create_ocr_processing_element(
        software_version_str="0.7.0",
        processing_datetime=tree.findtext(f".//{{{NAMESPACE}}}LastChange"),
    )
    try:
        layout = PageLayout(file=str(path))
        alto = convert_to_alto_4(layout.to_altoxml_string(ocr_processing_element=processing), words)
    except (KeyError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise BadData(
            path, f"pero-ocr makes no ALTO of this PAGE XML ({reason_in(error)})"
        ) from error
    return alto, plain_text(texts)


def _work(arguments: argparse.Namespace) -> None:
    alto, text = export(arguments.page)
    write_complete(arguments.alto, alto)
    write_complete(arguments.text, text.encode())


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ocr-export` on one page, and return its exit code."""
    parser = Parser(
        prog="ocr-export", description="Write a transcribed page as ALTO 4 and plain text."
    )
    parser.add_argument("page", type=Path, help="PAGE XML file that ocr-transcribe wrote")
    add = parser.add_argument
    add("--alto", type=Path, required=True, metavar="FILE", help="ALTO file to write")
    add("--text", type=Path, required=True, metavar="FILE", help="Text file to write")
    return run_command(parser, _work, argv)


def command() -> None:
    """Run `ocr-export` once, or as a warm worker."""
    serve(main)
