"""`ocr-scans` draws generated scans, and writes their true text to a separate folder."""

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ocr.damage import DAMAGES, Format
from ocr.images import encode_image
from ocr.scan_page import KINDS, draw_page
from sluice.packs.programs import (
    Parser,
    UsageError,
    not_negative,
    positive,
    run_command,
    write_complete,
)
from sluice.text.visible_text import quoted

MAX_PAGES = 99_999


def page_name(volume: str, page: int) -> str:
    """Return the name of all files of a page, without extension. Names sort by page."""
    return f"{volume}-p{page:05d}"


def write_volume(arguments: argparse.Namespace) -> None:
    """Draw the pages one by one, damage the chosen ones, and write the truth."""
    out: Path = arguments.out
    truth: Path = arguments.truth or out.with_name(f"{out.name}-truth")
    damages = _index_damages(arguments.damage, arguments.pages)
    if truth.resolve().is_relative_to(out.resolve()):
        raise UsageError(f"the truth must not be among the scans: {truth} is inside {out}")
    out.mkdir(parents=True, exist_ok=True)
    truth.mkdir(parents=True, exist_ok=True)
    kinds = arguments.kind or ["clean"]
    pages: list[dict[str, Any]] = []
    for number in range(1, arguments.pages + 1):
        name = page_name(arguments.volume, number)
        kind = kinds[(number - 1) % len(kinds)]
        page = draw_page(f"{arguments.seed}/{arguments.volume}/{number}", kind)
        file_format: Format = arguments.format
        content = encode_image(page.pixels, file_format)
        damage = damages.get(number)
        lines = [] if damage else [line.text for line in page.lines]
        write_complete(
            out / f"{name}.{file_format}",
            DAMAGES[damage](content, file_format) if damage else content,
        )
        write_complete(truth / f"{name}.txt", "".join(f"{line}\n" for line in lines).encode())
        metadata = {"name": name, "kind": kind, "font": page.font, "size": page.size}
        pages.append({**metadata, "damage": damage, "lines": len(lines)})
    volume_truth = {"volume": arguments.volume, "seed": arguments.seed, "pages": pages}
    text = json.dumps(volume_truth, indent=1, ensure_ascii=False) + "\n"
    write_complete(truth / f"{arguments.volume}.json", text.encode())
    print(f"{arguments.volume}: {arguments.pages} pages in {out}, truth in {truth}")


def _index_damages(damages: list[tuple[str, int]], pages: int) -> dict[int, str]:
    for _, number in damages:
        if number > pages:
            raise UsageError(f"page {number} cannot be damaged: there are pages 1 to {pages}")
    return {number: damage for damage, number in damages}


def _parse_damage(text: str) -> tuple[str, int]:
    damage, _, number = text.partition("=")
    if damage not in DAMAGES:
        raise argparse.ArgumentTypeError(f"{quoted(damage)} is not one of {', '.join(DAMAGES)}")
    return damage, positive(number)


def _parse_pages(text: str) -> int:
    if (number := positive(text)) > MAX_PAGES:
        raise argparse.ArgumentTypeError(f"a volume has at most {MAX_PAGES} pages")
    return number


def _parse_volume_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}", text):
        raise argparse.ArgumentTypeError(
            f"{quoted(text)} is not a name of letters, digits, '.', '_', '-'"
        )
    return text


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ocr-scans` and return its exit code."""
    parser = Parser(
        prog="ocr-scans",
        description="Draw the scanned pages of a volume, and write their true text.",
    )
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="FOLDER", help="Folder to write the scans to")
    add(
        "--pages",
        type=_parse_pages,
        required=True,
        metavar="N",
        help=f"Number of pages, at most {MAX_PAGES}",
    )
    add(
        "--seed",
        type=not_negative,
        required=True,
        help="Seed of the random pages; equal seeds give equal files",
    )
    add(
        "--volume",
        type=_parse_volume_name,
        default="volume",
        metavar="NAME",
        help="Name of the volume, with which all file names begin (default: %(default)s)",
    )
    add(
        "--kind",
        choices=KINDS,
        action="append",
        help="Kind of the pages; repeatable, then the kinds take turns page by page"
        " (default: clean)",
    )
    add(
        "--format",
        choices=("png", "jpg"),
        default="png",
        help="Image format of the scans (default: %(default)s)",
    )
    add(
        "--damage",
        type=_parse_damage,
        action="append",
        default=[],
        metavar="KIND=PAGE",
        help=f"Damage page number PAGE in the way KIND: {', '.join(DAMAGES)}; repeatable"
        " (default: no damage)",
    )
    add(
        "--truth",
        type=Path,
        metavar="FOLDER",
        help="Folder to write the true text to (default: the folder of --out with -truth added)",
    )
    return run_command(parser, write_volume, argv)
