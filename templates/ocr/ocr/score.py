"""`ocr-score` compares transcriptions with the truth, by kind of page."""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sluice.packs.programs import BadData, MissingInput, Parser, UsageError, read_input, run_command


def normalise(text: str) -> str:
    """Return the lines that have text, without the spaces around them."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def score(truth: Path, texts: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Return pages, characters, errors and the error rate `cer` for each kind of page.

    Errors are inserted, missing and wrong characters. `truth` is the folder that `ocr-scans` wrote
    beside the scans. Damaged pages are left out.
    """
    pages = {
        page["name"]: page
        for about in truth.glob("*.json")
        for page in json.loads(about.read_text(encoding="utf-8"))["pages"]
    }
    from Levenshtein import distance  # noqa: PLC0415 - of the extra, as pero-ocr is

    if not pages:
        raise MissingInput(truth, "no truth of ocr-scans is there")
    kinds: dict[str, dict[str, Any]] = {}
    for path in texts:
        page = pages.get(path.stem)
        if page is None:
            raise BadData(path, f"{truth} knows no page {path.stem}")
        if page["damage"]:
            continue
        true_text = normalise((truth / f"{path.stem}.txt").read_text(encoding="utf-8"))
        text = normalise(read_input(path).decode())
        counts = kinds.setdefault(page["kind"], {"pages": 0, "characters": 0, "errors": 0})
        counts["pages"] += 1
        counts["characters"] += len(true_text)
        counts["errors"] += distance(true_text, text)
    for counts in kinds.values():
        counts["cer"] = round(counts["errors"] / counts["characters"], 5)
    return kinds


def _work(arguments: argparse.Namespace) -> None:
    if not arguments.texts:
        raise UsageError("no texts are given")
    print(json.dumps(score(arguments.truth, arguments.texts), indent=1))


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ocr-score` and return its exit code."""
    parser = Parser(prog="ocr-score", description="Compare transcriptions with the true text.")
    parser.add_argument("texts", type=Path, nargs="*", help="Texts of pages that ocr-export wrote")
    parser.add_argument(
        "--truth",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="Folder with the true text that ocr-scans wrote",
    )
    return run_command(parser, _work, argv)
