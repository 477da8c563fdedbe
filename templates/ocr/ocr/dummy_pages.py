"""`ocr-dummy-pages` writes series of pages for `ocr-dummy`, and registers them as data sets.

A page is a JSON file that contains its size. Sizes are drawn uniformly from an interval. Series
follow each other at a fixed period, which puts a constant load on a system.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from sluice.packs.programs import (
    CommandError,
    Parser,
    UsageError,
    finite,
    not_negative,
    positive,
    run_command,
    write_complete,
)


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock by which series follow each other, in seconds."""

    read: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class NotRegistered(CommandError):
    """`sluice dataset register` refused a series; it has printed why."""

    exit_code = 69

    def __init__(self, series: Path) -> None:
        super().__init__(f"{series}: the series was written but not registered; see above")


def main(argv: Sequence[str] | None = None, *, clock: Clock = Clock()) -> int:
    """Run `ocr-dummy-pages` and return its exit code."""
    parser = Parser(
        prog="ocr-dummy-pages", description="Write pages that contain only a size, for ocr-dummy."
    )
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="FOLDER", help="Folder to write the pages to")
    add(
        "--pages",
        type=positive,
        required=True,
        metavar="N",
        help="Number of pages in each series",
    )
    add(
        "--size",
        type=finite,
        nargs=2,
        default=(1.0, 1.0),
        metavar=("MIN", "MAX"),
        help="Smallest and largest size of the random pages (default: 1 1)",
    )
    add(
        "--seed",
        type=not_negative,
        default=1,
        help="Seed of the random sizes; equal seeds give equal sizes (default: %(default)s)",
    )
    add(
        "--repeat",
        type=positive,
        default=1,
        metavar="N",
        help="Number of series to write (default: 1)",
    )
    add(
        "--period",
        type=finite,
        default=0.0,
        metavar="SECONDS",
        help="Seconds from the start of one series to the start of the next (default: 0)",
    )
    add(
        "--register",
        metavar="NAME",
        help="Register each series with the running system as data set NAME-0001, NAME-0002, …"
        " of type dummies (default: do not register)",
    )
    return run_command(parser, partial(_generate, clock=clock), argv)


def _generate(arguments: argparse.Namespace, *, clock: Clock) -> None:
    smallest, largest = arguments.size
    if not 0 <= smallest <= largest:
        raise UsageError(f"--size {smallest:g} {largest:g}: give 0 <= MIN <= MAX")
    if arguments.period < 0:
        raise UsageError(f"--period {arguments.period:g} is below 0")
    random = Random(arguments.seed)  # noqa: S311 - no secret
    start = clock.read()
    for number in range(1, arguments.repeat + 1):
        wait = start + (number - 1) * arguments.period - clock.read()
        if wait > 0:
            clock.sleep(wait)
        single = arguments.repeat == 1
        folder = arguments.out if single else arguments.out / f"series-{number:04d}"
        _write_series(folder, arguments, random)
        print(f"{arguments.pages} pages in {folder}", flush=True)
        if arguments.register:
            _register(f"{arguments.register}-{number:04d}", folder)


def _write_series(folder: Path, arguments: argparse.Namespace, random: Random) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, arguments.pages + 1):
        page = {"name": f"page-{number:05d}", "size": round(random.uniform(*arguments.size), 3)}
        content = json.dumps(page) + "\n"
        write_complete(folder / f"{page['name']}.dummy", content.encode())


def _register(name: str, folder: Path) -> None:
    command = [sys.executable, "-m", "sluice.cli", "dataset", "register", name, str(folder)]
    if subprocess.run([*command, "--meta", "type=dummies"], check=False).returncode:
        raise NotRegistered(folder)
