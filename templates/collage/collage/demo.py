"""Make a collage on this machine with simulated old computers that die, lie or never deliver.

`make collage-demo` runs this program, which uses the whole system. New computers join when the
first one has died. The picture is compared, pixel by pixel, with the picture of one plain program.
All other output comes from the system's answers.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from PIL import Image

from collage.commands import plain_main
from collage.computers import Fault, OldComputer
from collage.images import main as draw_images
from collage.pack import FOLDER as PACK
from collage.workers import ENDED_BY_ITSELF, Worker
from sluice.clientkit.connection import Connection, connected
from sluice.clientkit.output import err, out, print_problem, print_table
from sluice.clientkit.template_files import read_template_files
from sluice.clientkit.transfer.results import fetch_results
from sluice.clientkit.transfer.upload import upload_files
from sluice.clientkit.watch.chain import follow_chain
from sluice.clientkit.watch.progress import StepBars, new_progress
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import NewDataset
from sluice.embedded.demonstration import SYSTEM, demonstration_folder, demonstration_system
from sluice.embedded.home import Home
from sluice.packs.demo_options import add_demo_options
from sluice.packs.programs import positive
from sluice.text.os_errors import os_error_sentence

#: The workers at the start, the faults of some of them, and the workers that join later.
WORKERS, FAULTS, JOINING_WORKERS = 8, {4: Fault.CHECKSUM, 6: Fault.SILENT}, 2
#: The workers that die, and the shortest and longest time in seconds until then.
MORTAL, DEATH = (1, 2, 3), (4.0, 15.0)
SPEED_UP, LEASE, HEARTBEAT = 10.0, 6.0, 1.0
HEIGHT = 120
_FATES = {Fault.CHECKSUM: "lied", Fault.SILENT: "never delivered"}


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The system's report about the run."""

    chain: Chain
    tasks: Sequence[ChainTask]
    picture: Path | None
    duplicate_attempts: int
    workers: Sequence[Mapping[str, Any]]
    timeline: Path


def _make_worker(folder: Path, url: str, number: int, random: Random) -> Worker:
    """Return a worker. ``folder`` is the folder of the demonstration."""
    computer = OldComputer(
        f"old-{number}",
        Random(random.random()),  # noqa: S311 - no secret
        FAULTS.get(number, Fault.NONE),
        factor=0.0,
        speed_up=SPEED_UP,
    )
    dies_after = random.uniform(*DEATH) if number in MORTAL else None
    return Worker(
        computer,
        folder / "workers" / computer.name,
        url,
        LEASE * 1.5,
        dies_after,
        token=Home(folder / SYSTEM).pilot_token,
    )


class _WorkerPool:
    """The workers, with those that join when the first one has died."""

    def __init__(self, folder: Path, url: str, seed: int) -> None:
        random = Random(seed)  # noqa: S311 - no secret
        numbers = range(1, WORKERS + JOINING_WORKERS + 1)
        workers = [_make_worker(folder, url, number, random) for number in numbers]
        self.workers, self._joining = workers[:WORKERS], workers[WORKERS:]
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._failure, self._errors = asyncio.Event(), list[OSError]()

    def start(self) -> None:
        """Start the first workers."""
        self._tasks = [asyncio.create_task(self._live(worker)) for worker in self.workers]

    async def _live(self, worker: Worker) -> None:
        await worker.live(self._stop)
        if worker.fate.startswith(ENDED_BY_ITSELF):
            self._errors.append(OSError(f"worker {worker.computer.name} has {worker.fate}"))
            self._failure.set()
        if worker.fate == "died" and self._joining:
            joining, self._joining = self._joining, []
            self.workers += joining
            self._tasks += [asyncio.create_task(self._live(new)) for new in joining]

    async def wait_for_failure(self) -> None:
        """Return when the pilot of a worker has ended by itself.

        ``stop`` then raises the reason.
        """
        await self._failure.wait()

    async def stop(self) -> None:
        """Stop all workers.

        Raises:
            OSError: The pilot of a worker has ended by itself.
        """
        self._stop.set()
        while waiting := [task for task in self._tasks if not task.done()]:
            await asyncio.wait(waiting)
        for error in self._errors[:1]:
            raise error
        for task in self._tasks:
            task.result()


async def _count_duplicate_attempts(connection: Connection, tasks: Sequence[ChainTask]) -> int:
    """Return the number of attempts that began during another attempt of the same job."""
    number = 0
    for task in tasks:
        after: str | None = None
        while task.jobs is not None:
            page = await connection.operator.list_jobs(task.task_uid, after=after, limit=1000)
            for job in page.jobs:
                if job.attempt > 1:
                    attempts = (await connection.operator.get_job(job.id)).attempts
                    number += sum(
                        attempt.ended_at is None or later.leased_at < attempt.ended_at
                        for attempt, later in pairwise(attempts)
                    )
            if page.after is None:
                break
            after = page.after
    return number


async def _collect_statistics(connection: Connection, pool: _WorkerPool) -> list[dict[str, Any]]:
    """Return the system's statistics of each worker, including lost ones."""
    uids = {pilot.name: pilot.uid for pilot in (await connection.operator.list_pilots()).pilots}
    return [await _worker_statistics(connection, worker, uids) for worker in pool.workers]


async def _worker_statistics(
    connection: Connection, worker: Worker, uids: Mapping[str, UUID]
) -> dict[str, Any]:
    name, fault = worker.computer.name, worker.computer.fault
    fate = worker.fate if worker.fate == "died" else _FATES.get(fault, "worked to the end")
    statistics = {"name": name, "jobs": 0, "failed": 0, "mean_seconds": None, "fate": fate}
    if name not in uids:
        return statistics
    detail = await connection.operator.get_pilot(uids[name])
    times = [(step.finished, step.mean) for step in detail.steps if step.mean is not None]
    jobs = sum(finished for finished, _ in times)
    mean = sum(finished * seconds for finished, seconds in times) / jobs if jobs else None
    return statistics | {
        "jobs": detail.pilot.finished,
        "failed": detail.pilot.failed,
        "mean_seconds": None if mean is None else round(mean, 3),
    }


async def _make_collage(url: str, folder: Path, photos: Sequence[Path], seed: int) -> DemoResult:
    pool = _WorkerPool(folder, f"{url}/services/wms", seed)
    async with connected(url) as connection:
        files = await asyncio.to_thread(read_template_files, [PACK / "workflow.cwl"])
        template = await connection.operator.store_run_template(files.new("photo-collage"))
        dataset = await upload_files(
            connection, photos, dataset=NewDataset(name="photos", on_demand=True)
        )
        pool.start()
        tasks: list[ChainTask] = []
        try:
            chain = await connection.operator.request_chain(
                dataset.uid, template.name, run_template=template.id, params={"height": HEIGHT}
            )
            with new_progress() as bars:
                progress = StepBars(bars)

                def show_progress(chain: Chain, latest_tasks: Sequence[ChainTask]) -> None:
                    tasks[:] = latest_tasks
                    progress.show(chain, latest_tasks)

                following = asyncio.ensure_future(
                    follow_chain(connection, chain, on_look=show_progress, for_nodes=True)
                )
                failure = asyncio.ensure_future(pool.wait_for_failure())
                await asyncio.wait([following, failure], return_when=asyncio.FIRST_COMPLETED)
                failure.cancel()
                if not following.done():
                    following.cancel()
                    await pool.stop()
                chain = await following
            outputs = []
            if chain.state is ChainState.FINISHED:
                outputs = await fetch_results(connection, chain, folder / "out")
            timeline = folder / "timeline.svg"
            picture = await connection.operator.get_timeline_picture(chain.uid)
            await asyncio.to_thread(timeline.write_bytes, picture)
            return DemoResult(
                chain=chain,
                tasks=tasks,
                picture=outputs[0].path if outputs else None,
                duplicate_attempts=await _count_duplicate_attempts(connection, tasks),
                workers=await _collect_statistics(connection, pool),
                timeline=timeline,
            )
        finally:
            await pool.stop()


def same_pixels(one: Path, other: Path) -> bool:
    """Return whether two images have the same size and pixels."""
    with Image.open(one) as first, Image.open(other) as second:
        return first.size == second.size and first.tobytes() == second.tobytes()


def _summarise(result: DemoResult, photos: Sequence[Path], folder: Path) -> dict[str, Any]:
    picture: dict[str, Any] | None = None
    if result.picture is not None:
        with Image.open(result.picture) as image:
            width, height = image.size
        plain = folder / "plain.png"
        arguments = ["--height", str(HEIGHT), "--out", str(plain), *map(str, photos)]
        picture = {
            "path": str(result.picture),
            "sha256": sha256(result.picture.read_bytes()).hexdigest(),
            "width": width,
            "height": height,
            "same_as_plain": plain_main(arguments) == 0 and same_pixels(result.picture, plain),
        }
    is_correct = picture is not None and picture["same_as_plain"]
    return {
        "status": (ChainState.FINISHED if is_correct else ChainState.FAILED).value,
        "images": len(photos),
        "picture": picture,
        "jobs": sum(task.jobs.total for task in result.tasks if task.jobs),
        "duplicate_attempts": result.duplicate_attempts,
        "workers": list(result.workers),
        "timeline": str(result.timeline),
    }


def _print_result(result: DemoResult, summary: Mapping[str, Any]) -> None:
    if result.chain.state is not ChainState.FINISHED:
        out.print(f"the chain has {result.chain.state.value}: {result.chain.reason}")
    columns = ("name", "jobs", "failed", "mean_seconds", "fate")
    print_table(
        ["worker", "jobs", "failed", "seconds a job", "fate"],
        [
            tuple("–" if worker[column] is None else worker[column] for column in columns)
            for worker in summary["workers"]
        ],
        empty="no worker",
    )
    picture = summary["picture"]
    if picture is not None:
        same = "the same" if picture["same_as_plain"] else "NOT the same"
        size = f"{picture['width']} × {picture['height']} pixels"
        out.print(f"{picture['path']}: {size}, {same} as by one program")
    out.print(
        f"{summary['status']}: {summary['images']} images, {summary['jobs']} jobs,"
        f" {summary['duplicate_attempts']} duplicate attempts, {summary['seconds']:.0f} s;"
        f" who did what when: {summary['timeline']}"
    )


def _run(arguments: argparse.Namespace, folder: Path) -> int:
    photos = folder / "photos"
    image_options = [
        "--out",
        str(photos),
        "--images",
        str(arguments.images),
        "--seed",
        str(arguments.seed),
    ]
    if draw_images(image_options) != 0:
        raise OSError("the generator failed; see above")
    ordered_photos = sorted(photos.iterdir(), key=lambda path: (path.stat().st_mtime_ns, path.name))
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ["PATH"] = programs
    settings = {
        "SLUICE_WMS_LEASE": f"{LEASE:g}",
        "SLUICE_WMS_HEARTBEAT": f"{HEARTBEAT:g}",
        "SLUICE_WMS_LOOK_AT_OUTPUTS": "content",
    }
    started = time.monotonic()
    options = ["--port", "0", "--pilots", "0"]
    with demonstration_system(folder, options, keep=arguments.keep, settings=settings) as url:
        out.print(f"Sluice is up at {url}")
        result = asyncio.run(_make_collage(url, folder, ordered_photos, arguments.seed))
    summary = _summarise(result, ordered_photos, folder)
    summary["seconds"] = round(time.monotonic() - started, 1)
    (folder / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    _print_result(result, summary)
    return 0 if summary["status"] == ChainState.FINISHED else 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run `python -m collage.demo` and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    add_demo_options(parser, seed_subject="the random photos, computers and failures")
    parser.add_argument(
        "--images",
        type=positive,
        default=120,
        metavar="N",
        help="Number of photos to draw (default: %(default)s)",
    )
    arguments = parser.parse_args(argv)
    try:
        with demonstration_folder(arguments.home) as folder:
            return _run(arguments, folder)
    except ServiceError as error:
        print_problem(error)
    except OSError as error:
        err.print(f"error: {os_error_sentence(error)}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
