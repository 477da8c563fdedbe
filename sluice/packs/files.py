"""The files of a pack besides its programs: workflow, tools and configurations."""

import argparse
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sluice.packs.programs import Parser, UsageError, run_command


def pack_folder(module: str) -> Path:
    """Return the folder of these files for a pack whose package contains the file `module`.

    An installed package contains the files itself. In a source tree they are beside the package.
    """
    package = Path(module).resolve().parent
    return next(place for place in (package, package.parent) if (place / "workflow.cwl").is_file())


def pack_main(
    name: str, folder: Path, parts: Sequence[str], argv: Sequence[str] | None = None
) -> int:
    """Run a program that copies `parts` into a folder of the user."""
    parser = Parser(
        prog=name, description=f"Copy the files of the pack into a folder: {', '.join(parts)}."
    )
    parser.add_argument(
        "out",
        type=Path,
        metavar="FOLDER",
        help="Folder to copy the files into, created if it does not exist",
    )
    return run_command(parser, partial(_write, folder, parts), argv)


def _write(folder: Path, parts: Sequence[str], arguments: argparse.Namespace) -> None:
    out: Path = arguments.out
    if existing := [name for name in parts if (out / name).exists()]:
        raise UsageError(f"{out / existing[0]} is there already: give a folder without it")
    out.mkdir(parents=True, exist_ok=True)
    for name in parts:
        part = folder / name
        if part.is_dir():
            shutil.copytree(part, out / name)
        else:
            shutil.copy(part, out / name)
    print(f"{', '.join(parts)} in {out}")
