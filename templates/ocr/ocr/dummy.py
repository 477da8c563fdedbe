"""`ocr-dummy` is a stage that takes a given time and does nothing else.

It tests scheduling without models. `ocr-dummy-pages` (`dummy_pages.py`) writes the pages.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from sluice.packs.programs import (
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
        raise BadData(
            path, f"this is not a page of ocr-dummy-pages ({reason_in(error)})"
        ) from error
    size = page.get("size") if isinstance(page, dict) else None
    if isinstance(size, bool) or not isinstance(size, int | float) or not size >= 0:
        raise BadData(path, "this is not a page of ocr-dummy-pages: it has no size of 0 or more")
    return {"name": path.stem, "stages": [], **page}


def _work(arguments: argparse.Namespace, *, sleep: Callable[[float], None]) -> None:
    for option in ("scale", "difference"):
        if getattr(arguments, option) < 0:
            raise UsageError(f"--{option} {getattr(arguments, option):g} is below 0")
    if arguments.faster <= 0:
        raise UsageError(f"--faster {arguments.faster:g} is not above 0")
    page = read_page(arguments.page)
    # The same page takes the same time on each node and in each attempt.
    random = Random(f"{arguments.seed}/{arguments.stage}/{page['name']}")  # noqa: S311 - no secret
    seconds = duration(page["size"], arguments.scale, arguments.difference, random)
    sleep(seconds / arguments.faster)
    page["stages"].append({"stage": arguments.stage, "seconds": round(seconds, 3)})
    write_complete(arguments.out, (json.dumps(page) + "\n").encode())


def main(argv: Sequence[str] | None = None, *, sleep: Callable[[float], None] = time.sleep) -> int:
    """Run `ocr-dummy` on one page, and return its exit code."""
    parser = Parser(
        prog="ocr-dummy",
        description="Wait as long as the size of a page requires, to test scheduling without"
        " models.",
    )
    add = parser.add_argument
    add("page", type=Path, help="Page that ocr-dummy-pages or an earlier stage wrote")
    add("--stage", required=True, metavar="NAME", help="Name of this stage")
    add(
        "--scale",
        type=finite,
        default=1.0,
        metavar="SECONDS",
        help="Seconds for a page of size 1; larger pages take proportionally longer (default: 1)",
    )
    add(
        "--difference",
        type=finite,
        default=0.0,
        metavar="SECONDS",
        help="Maximum random deviation from this time, in both directions (default: 0)",
    )
    add(
        "--faster",
        type=finite,
        default=1.0,
        metavar="FACTOR",
        help="Divide the wait by this factor (default: 1)",
    )
    add(
        "--seed",
        type=not_negative,
        default=1,
        help="Seed of the random deviations; equal seeds give equal times (default: %(default)s)",
    )
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="File to write the page to, with the time of this stage added",
    )
    return run_command(parser, partial(_work, sleep=sleep), argv)


def command() -> None:
    """Run `ocr-dummy` once, or as a warm worker."""
    serve(main)
