"""`ocr-pack`: the workflow, its tools and its configurations, into a folder of one's own."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

from pack_command import Parser, UsageError, run_command

#: All that is no program.
PARTS = ("workflow.cwl", "dummy.cwl", "tools", "config")


def pack_folder() -> Path:
    """Where they lie: in this package where it was installed, beside it in a source tree."""
    package = Path(__file__).resolve().parent
    return next(place for place in (package, package.parent) if (place / "workflow.cwl").is_file())


def _work(arguments: argparse.Namespace) -> None:
    out: Path = arguments.out
    if there := [name for name in PARTS if (out / name).exists()]:
        raise UsageError(f"{out / there[0]} is there already: give a folder without it")
    out.mkdir(parents=True, exist_ok=True)
    for name in PARTS:
        part = pack_folder() / name
        if part.is_dir():
            shutil.copytree(part, out / name)
        else:
            shutil.copy(part, out / name)
    print(f"{', '.join(PARTS)} in {out}")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `ocr-pack`."""
    parser = Parser(
        prog="ocr-pack", description="Write the workflow, its tools and configurations to a folder."
    )
    parser.add_argument("out", type=Path, metavar="DIR", help="made where it is not there")
    return run_command(parser, _work, argv)
