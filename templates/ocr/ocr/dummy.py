"""`ocr-dummy` is a stage that takes a given time and does nothing else.

It tests scheduling without models. `ocr-dummy-pages` (`dummy_pages.py`) writes the pages.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from pack_command import (
    BadData,
    Parser,
    UsageError,
    finite,
    not_negative,
    read_input,
    reason_in,
    run_command,
    write_complete,
)

from sluice.warm import serve


def duration(size: float, scale: float, difference: float, random: Random) -> float:
    """Return the seconds that a page of that size takes, at least 0.

    The time is size × scale plus a random difference, uniform in both directions.
    """
    return max(0.0, size * scale + random.uniform(-difference, difference))


def read_page(path: Path) -> dict[str, Any]:
    """Return a page with its size and the stages that it has passed.

    Raises:
        BadData: The file is no page of `ocr-dummy-pages`.
    """
    try:
        page = json.loads(read_input(path))
    except ValueError as error:
        raise BadData(path, f"this is no page of ocr-dummy-pages ({reason_in(error)})") from error
    size = page.get("size") if isinstance(page, dict) else None
    if isinstance(size, bool) or not isinstance(size, int | float) or not size >= 0:
        raise BadData(path, "this is no page of ocr-dummy-pages: it has no size of 0 or more")
    return {"name": path.stem, "stages": [], **page}


def _work(arguments: argparse.Namespace) -> None:
    for option in ("scale", "difference"):
        if getattr(arguments, option) < 0:
            raise UsageError(f"--{option} {getattr(arguments, option):g} is below 0")
    if arguments.faster <= 0:
        raise UsageError(f"--faster {arguments.faster:g} is not above 0")
    page = read_page(arguments.page)
    # The same page takes the same time on each node and in each attempt.
    random = Random(f"{arguments.seed}/{arguments.stage}/{page['name']}")  # noqa: S311 - no secret
    seconds = duration(page["size"], arguments.scale, arguments.difference, random)
    time.sleep(seconds / arguments.faster)
    page["stages"].append({"stage": arguments.stage, "seconds": round(seconds, 3)})
    write_complete(arguments.out, (json.dumps(page) + "\n").encode())


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ocr-dummy` on one page, and return its exit code."""
    parser = Parser(prog="ocr-dummy", description="Take as long for a page as it is told to.")
    add = parser.add_argument
    add("page", type=Path, help="a page of ocr-dummy-pages, or of a stage before")
    add("--stage", required=True, metavar="NAME", help="what this stage is called")
    add("--scale", type=finite, default=1.0, metavar="SECONDS", help="for a size of 1")
    add("--difference", type=finite, default=0.0, metavar="SECONDS", help="at most, more or less")
    add("--faster", type=finite, default=1.0, metavar="N", help="wait an N-th of that time")
    add("--seed", type=not_negative, default=1, metavar="S", help="same seed, same times")
    add("--out", type=Path, required=True, metavar="FILE", help="the page, with the time it took")
    return run_command(parser, _work, argv)


def command() -> None:
    """Run `ocr-dummy` once, or as a warm worker."""
    serve(main)
