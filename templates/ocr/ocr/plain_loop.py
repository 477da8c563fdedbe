"""`ocr-plain-loop` runs the stages of the pack in a loop of processes, without a workflow system.

It writes the same files. It serves as a baseline for Sluice, and to try a configuration.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ocr import volume
from ocr.images import MAX_MEGAPIXELS, read_page_image
from sluice.packs.programs import CommandError, Parser, positive, run_command, write_complete

if TYPE_CHECKING:
    from multiprocessing.synchronize import Barrier

    from ocr.stages import Stage

_stages: dict[str, Stage] = {}
_barriers: list[Barrier] = []


def _set_barrier(barrier: Barrier) -> None:
    _barriers.append(barrier)


def _load(configurations: dict[str, Path], first: Path | None) -> tuple[int, str] | None:
    """Load the stages, process `first`, and wait until all processes have done so.

    torch takes longer for the first page. Return the exit code and the sentence of an error, or
    None.
    """
    from ocr.stages import load_stage  # noqa: PLC0415 - `--help` needs no pero-ocr

    try:
        for stage, folder in configurations.items():
            _stages[stage] = load_stage(stage, folder, 1)
        if first is not None:
            with TemporaryDirectory() as scratch:
                _process_page(Path(scratch), first)
    except CommandError as error:
        return error.exit_code, str(error)
    finally:
        _barriers[0].wait()
    return None


def _process_page(out: Path, scan: Path) -> str | None:
    """Write all files of one page, and return the error if the page cannot be processed."""
    from ocr.export import export  # noqa: PLC0415
    from ocr.layout import lay_out  # noqa: PLC0415
    from ocr.transcribe import read_layout, transcribe  # noqa: PLC0415

    layout_path, page_path = out / f"{scan.stem}.layout.xml", out / f"{scan.stem}.xml"
    try:
        image = read_page_image(scan, MAX_MEGAPIXELS)
        layout = lay_out(_stages["layout"], scan, image)
        write_complete(layout_path, layout.to_pagexml_string().encode())
        layout = read_layout(layout_path)
        write_complete(page_path, transcribe(_stages["transcribe"], scan, image, layout))
        alto, text = export(page_path)
    except CommandError as error:
        return str(error)
    write_complete(out / f"{scan.stem}.alto.xml", alto)
    write_complete(out / f"{scan.stem}.txt", text.encode())
    return None


def _run_loop(processes: ProcessPoolExecutor, scans: list[Path], out: Path) -> int:
    """Process all pages, print the errors, and return their number."""
    out.mkdir(parents=True, exist_ok=True)
    errors = [error for error in processes.map(partial(_process_page, out), scans) if error]
    for error in errors:
        print(error)
    return len(errors)


def _write_volume(name: str, scans: list[Path], out: Path) -> int:
    """Write the files of the volume, and return its number of pages."""
    done = [scan for scan in scans if (out / f"{scan.stem}.txt").exists()]
    files = {
        option: [str(out / f"{scan.stem}{end}") for scan in done]
        for option, end in (("--pages", ".xml"), ("--altos", ".alto.xml"), ("--texts", ".txt"))
    }
    file_arguments = [text for option, paths in files.items() for text in (option, *paths)]
    if code := volume.main(["--name", name, "--out", str(out), *file_arguments]):
        raise SystemExit(code)
    return len(done)


def _work(arguments: argparse.Namespace) -> None:
    configurations = {"layout": arguments.layout_config, "transcribe": arguments.ocr_config}
    out: Path = arguments.out
    spawn = get_context("spawn")
    barrier = spawn.Barrier(arguments.processes)
    started = time.monotonic()
    with ProcessPoolExecutor(arguments.processes, spawn, _set_barrier, (barrier,)) as processes:
        # The processes wait for each other, so that each process gets one call.
        first = arguments.scans[0] if arguments.warm_up else None
        load = partial(_load, configurations)
        for failure in processes.map(load, [first] * arguments.processes):
            if failure is not None:
                error = CommandError(failure[1])
                error.exit_code = failure[0]
                raise error
        loaded = time.monotonic()
        failed = _run_loop(processes, arguments.scans, out)
        done = _write_volume(arguments.volume, arguments.scans, out)
        ended = time.monotonic()
    summary = {"pages": done, "failed": failed, "loading": round(loaded - started, 3)}
    if arguments.summary is not None:
        text = json.dumps({**summary, "seconds": round(ended - loaded, 3)}) + "\n"
        write_complete(arguments.summary, text.encode())
    print(f"{done} pages in {out}, {failed} failed")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ocr-plain-loop` and return its exit code."""
    parser = Parser(
        prog="ocr-plain-loop",
        description="Transcribe the pages of a volume without a workflow system.",
    )
    add = parser.add_argument
    add("scans", type=Path, nargs="+", help="Images of the scanned pages, in order")
    add(
        "--layout-config",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="Folder with the configuration of ocr-layout: config.ini and its models",
    )
    add(
        "--ocr-config",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="Folder with the configuration of ocr-transcribe: config.ini and its models",
    )
    add(
        "--volume",
        default="volume",
        metavar="NAME",
        help="Name of the volume and of its files (default: %(default)s)",
    )
    add(
        "--processes",
        type=positive,
        default=2,
        metavar="N",
        help="Number of parallel processes (default: %(default)s)",
    )
    add("--out", type=Path, required=True, metavar="FOLDER", help="Folder to write all files to")
    add(
        "--warm-up",
        action="store_true",
        help="Process the first page once in each process before the measurement starts",
    )
    add(
        "--summary",
        type=Path,
        metavar="FILE",
        help="JSON file for the numbers of pages and failures, and the seconds of loading and"
        " processing (default: do not write it)",
    )
    return run_command(parser, _work, argv)
