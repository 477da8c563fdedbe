"""Send two simulated detector runs at once through a complete system on this machine.

`make demo` runs this program. With `--url`, the runs go through a system that runs already. That
system needs an input storage that this machine sees at the same path.

The program uses what users have: `spd-daq`, the template and the REST interface. The figures come
from the system's answers and the merged ROOT files. Only the true events come from the generator.
"""

import argparse
import asyncio
import json
import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from sluice.clientkit.connection import Connection, connected
from sluice.clientkit.output import err, out, print_problem
from sluice.clientkit.transfer.results import fetch_results, write_manifest
from sluice.clientkit.transfer.upload import upload_files
from sluice.clientkit.watch.chain import failed_jobs, follow_chain, wait_for_chain
from sluice.clientkit.watch.progress import StepBars, new_progress
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.data.runs import NewFrame, NewPeriod, NewRun
from sluice.contracts.templates.templates import NewTemplate, Template
from sluice.embedded.demonstration import SYSTEM, demonstration_folder, demonstration_system
from sluice.packs.demo_options import add_demo_options
from sluice.packs.files import pack_folder
from sluice.packs.programs import positive
from sluice.text.os_errors import os_error_sentence
from spd.daq import main as daq
from spd.demo_report import print_report
from spd.demo_run import MIN_FRAMES_WITH_DAMAGE, PlannedRun, ProcessedRun
from spd.report import read_events
from spd.truth import expected_events, read_truth

PERIOD = "2026-A"


RUNS = (PlannedRun(number=1, seed=11), PlannedRun(number=2, seed=12, damaged=17))


async def _process_run(
    connection: Connection,
    plan: PlannedRun,
    *,
    template: Template,
    folder: Path,
    progress: StepBars,
) -> ProcessedRun:
    frames = sorted((folder / "daq" / f"run{plan.number}").glob("*.raw"))
    meta = {"type": "raw", "detector": "spd"}
    await connection.dms.register_run(
        NewRun(number=plan.number, period=PERIOD, conditions={"seed": plan.seed})
    )
    new_dataset = NewDataset(
        name=f"spd-run{plan.number:06d}", meta=meta, run=plan.number, period=PERIOD
    )
    dataset = await upload_files(connection, frames, dataset=new_dataset)
    await _register_frames(connection, plan.number, dataset.uid)
    started = time.monotonic()
    latest_tasks: list[ChainTask] = []

    def show_progress(chain: Chain, tasks: Sequence[ChainTask]) -> None:
        latest_tasks[:] = tasks
        progress.show(chain, tasks)

    chain = await follow_chain(
        connection, await wait_for_chain(connection, dataset.uid), on_look=show_progress
    )
    truth = read_truth(folder / "truth" / f"run{plan.number}.json")
    run = ProcessedRun(
        plan=plan,
        frames=len(frames),
        raw_bytes=dataset.bytes,
        events_truth=sum(len(frame["events"]) for frame in truth["frames"]),
        chain=chain,
        tasks=latest_tasks,
        failures=await failed_jobs(connection, latest_tasks),
        seconds=time.monotonic() - started,
    )
    if chain.state is ChainState.FINISHED:
        run.outputs = await fetch_results(connection, chain, folder / "out" / f"run{plan.number}")
        write_manifest(folder / "out" / f"run{plan.number}", run.outputs, chain=chain)
        run.exact = read_events(run.root_files()) == expected_events(
            folder / "truth" / f"run{plan.number}.json"
        )
    return run


async def _register_frames(connection: Connection, run: int, dataset: UUID) -> None:
    files = connection.dms.iterate_files(dataset)
    frames = [
        NewFrame(number=file.seq + 1, file_id=file.id, meta={"name": file.name})
        async for file in files
    ]
    await connection.dms.register_frames(run, frames=frames)


async def _process_runs(url: str, folder: Path) -> list[ProcessedRun]:
    async with connected(url) as connection:
        text = (pack_folder(__file__) / "workflow.cwl").read_text()
        template = await connection.operator.store_template(
            NewTemplate(name="spd-online-filter", cwl=text)
        )
        await connection.dms.register_period(
            NewPeriod(name=PERIOD, goal="Demonstration: two simulated runs")
        )
        with new_progress() as bars:
            runs = []
            for plan in RUNS:
                progress = StepBars(bars, label=f"run {plan.number} ")
                runs.append(
                    _process_run(
                        connection, plan, template=template, folder=folder, progress=progress
                    )
                )
            return list(await asyncio.gather(*runs))


def _generate(folder: Path, frames: int) -> None:
    for plan in RUNS:
        arguments = [
            "--run",
            str(plan.number),
            "--frames",
            str(frames),
            "--seed",
            str(plan.seed),
            "--period",
            PERIOD,
        ]
        damaged = plan.damaged_frame(frames)
        arguments += ["--damage", str(damaged)] if damaged else []
        place = [
            "--out",
            str(folder / "daq" / f"run{plan.number}"),
            "--truth",
            str(folder / "truth" / f"run{plan.number}.json"),
        ]
        if daq([*place, *arguments]) != 0:
            raise OSError("the generator failed; see above")


def _write_summary(folder: Path, runs: Sequence[ProcessedRun], seconds: float) -> bool:
    finished = all(run.chain.state is ChainState.FINISHED and run.exact for run in runs)
    summary = {
        "status": "finished" if finished else "failed",
        "runs": [run.as_dict() for run in runs],
        "jobs": sum(task.jobs.total for run in runs for task in run.tasks if task.jobs is not None),
        "seconds": round(seconds, 2),
    }
    (folder / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    return finished


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demonstration and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    add_demo_options(parser)
    parser.add_argument(
        "--frames",
        type=positive,
        default=60,
        metavar="N",
        help="Number of frames in each run (default: %(default)s); with"
        f" {MIN_FRAMES_WITH_DAMAGE} or more, one frame of the second run is damaged",
    )
    port = os.environ.get("SLUICE_PORT", "0")
    parser.add_argument(
        "--port",
        type=int,
        default=port,
        help="Port of the web page; 0 means any free port (default: SLUICE_PORT, or 0)",
    )
    parser.add_argument(
        "--url",
        help="Use the running system at this address instead of starting one; set SLUICE_DMS_URL"
        " to the address of its DMS (default: start a system)",
    )
    arguments = parser.parse_args(argv)
    try:
        with demonstration_folder(arguments.home) as folder:
            _generate(folder, arguments.frames)
            return (
                _in_running_system(folder, arguments.url)
                if arguments.url
                else _in_own_system(folder, arguments)
            )
    except ServiceError as error:
        print_problem(error)
    except OSError as error:
        err.print(f"error: {os_error_sentence(error)}")
    return 1


def _in_running_system(folder: Path, url: str) -> int:
    started = time.monotonic()
    return _report_result(folder, asyncio.run(_process_runs(url.rstrip("/"), folder)), started)


def _in_own_system(folder: Path, arguments: argparse.Namespace) -> int:
    started = time.monotonic()
    options = ["--port", str(arguments.port)]
    with demonstration_system(folder, options, keep=arguments.keep) as url:
        out.print(f"Sluice is up at {url}")
        runs = asyncio.run(_process_runs(url, folder))
    code = _report_result(folder, runs, started)
    if arguments.keep:
        out.print(
            f"Sluice is still up: look at {url}, stop it with `{_sluice_command()} down --home"
            f" {_format_path(folder / SYSTEM)}`"
        )
    return code


def _sluice_command() -> str:
    """Return the `sluice` command as the user can type it.

    The command of an environment that is not activated is not on the PATH.
    """
    return _format_path(Path(sys.executable).parent / "sluice")


def _format_path(path: Path) -> str:
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))


def _report_result(folder: Path, runs: Sequence[ProcessedRun], start_time: float) -> int:
    finished = _write_summary(folder, runs, time.monotonic() - start_time)
    print_report(runs)
    out.print(f"outputs in {folder / 'out'}, figures in {folder / 'summary.json'}")
    return 0 if finished else 1


if __name__ == "__main__":
    sys.exit(main())
