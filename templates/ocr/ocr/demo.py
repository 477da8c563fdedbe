"""Send two volumes of scanned pages through a complete system on this machine.

`make ocr-demo` runs this program. During the first volume, a configuration changes and the second
volume comes with a higher rank. The first volume keeps its configuration. The second one gets the
new configuration and overtakes the first. One page is damaged on purpose.

With `--url`, the volumes go through a system that runs already. That system needs an input storage
that this machine sees at the same path, and pilots that find the programs.

The figures come from the system's answers and its files. Only the true text comes from the
generator.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ocr.demo_report import print_report, summarise
from ocr.demo_volume import PlannedVolume, ProcessedVolume, process_volume
from ocr.pack import FOLDER as PACK
from ocr.scans import main as scans
from sluice.clientkit.connection import Connection, connected
from sluice.clientkit.output import err, out, print_problem
from sluice.clientkit.template_files import read_template_files
from sluice.clientkit.transfer.assets import collect_files, put_asset
from sluice.clientkit.watch.progress import StepBars, new_progress
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import ChainState
from sluice.contracts.templates.templates import Template
from sluice.embedded.demonstration import SYSTEM, demonstration_folder, demonstration_system
from sluice.packs.demo_options import add_demo_options
from sluice.packs.programs import positive
from sluice.text.os_errors import os_error_sentence

#: The kinds of pages, repeated in this order.
KINDS = ("clean", "clean", "noise", "clean", "skew", "clean", "columns", "clean", "stains", "clean")
ASSETS = {"ocr-layout": PACK / "config" / "layout", "ocr-model": PACK / "config" / "ocr"}
#: The change of the configuration: pero-ocr also finds shorter lines.
CHANGE = ("MINIMUM_LENGTH = 6", "MINIMUM_LENGTH = 5")


def _generate(folder: Path, plan: PlannedVolume) -> None:
    arguments = [
        "--out",
        str(folder / "scans" / plan.name),
        "--truth",
        str(folder / "truth" / plan.name),
        "--volume",
        plan.name,
        "--pages",
        str(plan.pages),
        "--seed",
        str(plan.seed),
        *(f"--kind={kind}" for kind in KINDS),
    ]
    arguments += [f"--damage=cut={plan.damaged}"] if plan.damaged else []
    if scans(arguments) != 0:
        raise OSError("the generator failed; see above")


async def _put_configuration(connection: Connection, name: str, folder: Path, note: str) -> None:
    await put_asset(connection, name, collect_files([folder]), note=note)


async def _change_layout(connection: Connection, folder: Path) -> None:
    changed = folder / "layout-changed"
    changed.mkdir()
    text = (ASSETS["ocr-layout"] / "config.ini").read_text(encoding="utf-8")
    (changed / "config.ini").write_text(text.replace(*CHANGE), encoding="utf-8")
    await _put_configuration(connection, "ocr-layout", changed, "finds shorter lines")


async def _process_volumes(
    connection: Connection, template: Template, folder: Path, plans: Sequence[PlannedVolume]
) -> list[ProcessedVolume]:
    """Process the volumes, the second after a quarter of the first has been transcribed."""
    first, second = plans
    quarter_done = asyncio.Event()
    with new_progress() as bars:

        async def process(plan: PlannedVolume, rank: float) -> ProcessedVolume:
            return await process_volume(
                connection,
                template,
                plan,
                folder,
                rank=rank,
                progress=StepBars(bars, label=f"{plan.name} "),
                quarter_done=quarter_done,
            )

        first_task = asyncio.create_task(process(first, 0.0))
        waiter = asyncio.create_task(quarter_done.wait())
        await asyncio.wait([first_task, waiter], return_when=asyncio.FIRST_COMPLETED)
        waiter.cancel()
        await _change_layout(connection, folder)
        second_volume = await process(second, 10.0)
        return [await first_task, second_volume]


async def _run_volumes(
    url: str, folder: Path, plans: Sequence[PlannedVolume]
) -> list[ProcessedVolume]:
    async with connected(url) as connection:
        for name, configuration in ASSETS.items():
            await _put_configuration(connection, name, configuration, "of the pack")
        files = await asyncio.to_thread(read_template_files, [PACK / "workflow.cwl"])
        template = await connection.operator.store_run_template(files.new("document-ocr"))
        return await _process_volumes(connection, template, folder, plans)


def _in_running_system(url: str, folder: Path, plans: Sequence[PlannedVolume]) -> int:
    started = time.monotonic()
    volumes = asyncio.run(_run_volumes(url.rstrip("/"), folder, plans))
    return _report_result(folder, volumes, started)


def _in_own_system(
    arguments: argparse.Namespace, folder: Path, plans: Sequence[PlannedVolume]
) -> int:
    options = ["--port", str(arguments.port), "--pilots", "2"]
    with demonstration_system(folder, options, keep=arguments.keep) as url:
        out.print(f"Sluice is up at {url}")
        started = time.monotonic()
        volumes = asyncio.run(_run_volumes(url, folder, plans))
    code = _report_result(folder, volumes, started)
    if arguments.keep:
        out.print(f"Sluice is still up: `sluice down --home {folder / SYSTEM}` stops it")
    return code


def _report_result(folder: Path, volumes: Sequence[ProcessedVolume], start_time: float) -> int:
    summary = summarise(volumes, time.monotonic() - start_time)
    (folder / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    print_report(volumes, summary)
    out.print(f"outputs in {folder / 'out'}, figures in {folder / 'summary.json'}")
    return 0 if summary["status"] == ChainState.FINISHED else 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run `python -m ocr.demo` and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    add_demo_options(parser)
    add = parser.add_argument
    add(
        "--pages",
        type=positive,
        default=30,
        metavar="N",
        help="Number of pages in each volume (default: %(default)s)",
    )
    add(
        "--port",
        type=int,
        default=os.environ.get("SLUICE_PORT", "0"),
        help="Port of the web page; 0 means any free port (default: SLUICE_PORT, or 0)",
    )
    add(
        "--url",
        help="Use the running system at this address instead of starting one; set SLUICE_DMS_URL"
        " to the address of its DMS (default: start a system)",
    )
    arguments = parser.parse_args(argv)
    plans = (
        PlannedVolume("first", seed=11, pages=arguments.pages, damaged=arguments.pages // 2 + 1),
        PlannedVolume("second", seed=12, pages=arguments.pages),
    )
    try:
        with demonstration_folder(arguments.home) as folder:
            for plan in plans:
                _generate(folder, plan)
            if arguments.url:
                return _in_running_system(arguments.url, folder, plans)
            return _in_own_system(arguments, folder, plans)
    except ServiceError as error:
        print_problem(error)
    except OSError as error:
        err.print(f"error: {os_error_sentence(error)}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
