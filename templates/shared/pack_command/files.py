"""What belongs to a pack besides its programs: workflow, tools, configurations."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pack_command import Parser, UsageError, run_command


def pack_folder(module: str) -> Path:
    """Where they lie; `module`: a file of the pack's package. In the package where that was
    installed, beside it in a source tree."""
    package = Path(module).resolve().parent
    return next(place for place in (package, package.parent) if (place / "workflow.cwl").is_file())


def pack_main(
    name: str, folder: Path, parts: Sequence[str], argv: Sequence[str] | None = None
) -> int:
    """A program that writes these parts into a folder of one's own."""
    parser = Parser(prog=name, description=f"Write into a folder: {', '.join(parts)}.")
    parser.add_argument("out", type=Path, metavar="DIR", help="made where it is not there")
    return run_command(parser, partial(_write, folder, parts), argv)


def _write(folder: Path, parts: Sequence[str], arguments: argparse.Namespace) -> None:
    out: Path = arguments.out
    if there := [name for name in parts if (out / name).exists()]:
        raise UsageError(f"{out / there[0]} is there already: give a folder without it")
    out.mkdir(parents=True, exist_ok=True)
    for name in parts:
        part = folder / name
        if part.is_dir():
            shutil.copytree(part, out / name)
        else:
            shutil.copy(part, out / name)
    print(f"{', '.join(parts)} in {out}")
