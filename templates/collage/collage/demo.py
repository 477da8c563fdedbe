"""Make a collage on this machine with simulated old computers that die, lie or never deliver.

`make collage-demo` runs this program, which uses the whole system. New computers join when the
first one has died. The picture is compared, pixel by pixel, with the picture of one plain program.
All other output comes from the system's answers.
"""

from __future__ import annotations

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

from pack_command import positive
from PIL import Image

from collage.commands import plain_main
from collage.computers import OldComputer, Way
from collage.images import main as draw_images
from collage.pack import FOLDER as PACK
from collage.workers import ENDED_BY_ITSELF, Worker
from sluice.cli.connection import Connection, connected
from sluice.cli.output import err, out, print_problem, print_table
from sluice.cli.template_files import read_template_files
from sluice.cli.transfer.results import fetch_results
from sluice.cli.transfer.upload import upload_files
from sluice.cli.watch.chain import follow_chain
from sluice.cli.watch.progress import StepBars, new_progress
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import NewDataset
from sluice.embedded.demonstration import SYSTEM, demonstration_folder, demonstration_system
from sluice.embedded.home import Home
from sluice.text.os_errors import sentence_of

#: The workers at the start, the faults of some of them, and the workers that join later.
WORKERS, WAYS, LATER = 8, {4: Way.CHECKSUM, 6: Way.SILENT}, 2
#: The workers that die, and the shortest and longest time in seconds until then.
MORTAL, DEATH = (1, 2, 3), (4.0, 15.0)
SPEED_UP, LEASE, HEARTBEAT = 10.0, 6.0, 1.0
HEIGHT = 120
_FATES = {Way.CHECKSUM: "lied", Way.SILENT: "never delivered"}


@dataclass(frozen=True, slots=True)
class Carried:
    """What the system reports about the run."""

    chain: Chain
    tasks: Sequence[ChainTask]
    picture: Path | None
    second_attempts: int
    workers: Sequence[Mapping[str, Any]]
    timeline: Path


def _worker(folder: Path, url: str, number: int, random: Random) -> Worker:
    """Return a worker. ``folder`` is the folder of the demonstration."""
    computer = OldComputer(
        f"old-{number}",
        Random(random.random()),  # noqa: S311 - no secret
        WAYS.get(number, Way.NONE),
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


class _Hall:
    """The workers, with those that join when the first one has died."""

    def __init__(self, folder: Path, url: str, seed: int) -> None:
        random = Random(seed)  # noqa: S311 - no secret
        numbers = range(1, WORKERS + LATER + 1)
        everybody = [_worker(folder, url, number, random) for number in numbers]
        self.workers, self._later = everybody[:WORKERS], everybody[WORKERS:]
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._broken, self._errors = asyncio.Event(), list[OSError]()

    def start(self) -> None:
        """Start the first workers."""
        self._tasks = [asyncio.create_task(self._live(worker)) for worker in self.workers]

    async def _live(self, worker: Worker) -> None:
        await worker.live(self._stop)
        if worker.fate.startswith(ENDED_BY_ITSELF):
            self._errors.append(OSError(f"worker {worker.computer.name} has {worker.fate}"))
            self._broken.set()
        if worker.fate == "died" and self._later:
            joining, self._later = self._later, []
            self.workers += joining
            self._tasks += [asyncio.create_task(self._live(one)) for one in joining]

    async def until_broken(self) -> None:
        """Return when the pilot of a worker has ended by itself.

        ``stop`` then raises the reason.
        """
        await self._broken.wait()

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


async def _second_attempts(connection: Connection, tasks: Sequence[ChainTask]) -> int:
    """Return the number of attempts that began during another attempt of the same job."""
    number = 0
    for task in tasks:
        after: str | None = None
        while task.jobs is not None:
            page = await connection.operator.jobs(task.task_uid, after=after, limit=1000)
            for job in page.jobs:
                if job.attempt > 1:
                    attempts = (await connection.operator.job(job.id)).attempts
                    number += sum(
                        one.ended_at is None or other.leased_at < one.ended_at
                        for one, other in pairwise(attempts)
                    )
            if page.after is None:
                break
            after = page.after
    return number


async def _statistics(connection: Connection, hall: _Hall) -> list[dict[str, Any]]:
    """Return the system's statistics of each worker, including lost ones."""
    uids = {pilot.name: pilot.uid for pilot in (await connection.operator.pilots()).pilots}
    return [await _of_worker(connection, worker, uids) for worker in hall.workers]


async def _of_worker(
    connection: Connection, worker: Worker, uids: Mapping[str, UUID]
) -> dict[str, Any]:
    name, way = worker.computer.name, worker.computer.way
    fate = worker.fate if worker.fate == "died" else _FATES.get(way, "worked to the end")
    known = {"name": name, "jobs": 0, "failed": 0, "mean_seconds": None, "fate": fate}
    if name not in uids:
        return known
    detail = await connection.operator.pilot(uids[name])
    times = [(step.finished, step.mean) for step in detail.steps if step.mean is not None]
    jobs = sum(finished for finished, _ in times)
    mean = sum(finished * seconds for finished, seconds in times) / jobs if jobs else None
    return known | {
        "jobs": detail.pilot.finished,
        "failed": detail.pilot.failed,
        "mean_seconds": None if mean is None else round(mean, 3),
    }


async def _carry(url: str, folder: Path, photos: Sequence[Path], seed: int) -> Carried:
    hall = _Hall(folder, f"{url}/services/wms", seed)
    async with connected(url) as connection:
        files = await asyncio.to_thread(read_template_files, [PACK / "workflow.cwl"])
        template = await connection.operator.store_run_template(files.new("photo-collage"))
        dataset = await upload_files(
            connection, photos, dataset=NewDataset(name="photos", on_demand=True)
        )
        hall.start()
        tasks: list[ChainTask] = []
        try:
            chain = await connection.operator.request_chain(
                dataset.uid, template.name, run_template=template.id, params={"height": HEIGHT}
            )
            with new_progress() as bars:
                progress = StepBars(bars)

                def look(chain: Chain, latest: Sequence[ChainTask]) -> None:
                    tasks[:] = latest
                    progress.show(chain, latest)

                following = asyncio.ensure_future(
                    follow_chain(connection, chain, on_look=look, for_nodes=True)
                )
                broken = asyncio.ensure_future(hall.until_broken())
                await asyncio.wait([following, broken], return_when=asyncio.FIRST_COMPLETED)
                broken.cancel()
                if not following.done():
                    following.cancel()
                    await hall.stop()
                chain = await following
            outputs = []
            if chain.state is ChainState.FINISHED:
                outputs = await fetch_results(connection, chain, folder / "out")
            timeline = folder / "timeline.svg"
            picture = await connection.operator.timeline_picture(chain.uid)
            await asyncio.to_thread(timeline.write_bytes, picture)
            return Carried(
                chain=chain,
                tasks=tasks,
                picture=outputs[0].path if outputs else None,
                second_attempts=await _second_attempts(connection, tasks),
                workers=await _statistics(connection, hall),
                timeline=timeline,
            )
        finally:
            await hall.stop()


def same_pixels(one: Path, other: Path) -> bool:
    """Return whether two images have the same size and pixels."""
    with Image.open(one) as first, Image.open(other) as second:
        return first.size == second.size and first.tobytes() == second.tobytes()


def _summary(carried: Carried, photos: Sequence[Path], folder: Path) -> dict[str, Any]:
    picture: dict[str, Any] | None = None
    if carried.picture is not None:
        with Image.open(carried.picture) as image:
            width, height = image.size
        plain = folder / "plain.png"
        arguments = ["--height", str(HEIGHT), "--out", str(plain), *map(str, photos)]
        picture = {
            "path": str(carried.picture),
            "sha256": sha256(carried.picture.read_bytes()).hexdigest(),
            "width": width,
            "height": height,
            "same_as_plain": plain_main(arguments) == 0 and same_pixels(carried.picture, plain),
        }
    right = picture is not None and picture["same_as_plain"]
    return {
        "status": (ChainState.FINISHED if right else ChainState.FAILED).value,
        "images": len(photos),
        "picture": picture,
        "jobs": sum(task.jobs.total for task in carried.tasks if task.jobs),
        "second_attempts": carried.second_attempts,
        "workers": list(carried.workers),
        "timeline": str(carried.timeline),
    }


def _print(carried: Carried, summary: Mapping[str, Any]) -> None:
    if carried.chain.state is not ChainState.FINISHED:
        out.print(f"the chain has {carried.chain.state.value}: {carried.chain.reason}")
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
        f" {summary['second_attempts']} second attempts, {summary['seconds']:.0f} s;"
        f" who did what when: {summary['timeline']}"
    )


def _run(arguments: argparse.Namespace, folder: Path) -> int:
    photos = folder / "photos"
    drawn = ["--out", str(photos), "--images", str(arguments.images), "--seed", str(arguments.seed)]
    if draw_images(drawn) != 0:
        raise OSError("the generator failed; see above")
    in_order = sorted(photos.iterdir(), key=lambda path: (path.stat().st_mtime_ns, path.name))
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
        carried = asyncio.run(_carry(url, folder, in_order, arguments.seed))
    summary = _summary(carried, in_order, folder)
    summary["seconds"] = round(time.monotonic() - started, 1)
    (folder / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    _print(carried, summary)
    return 0 if summary["status"] == ChainState.FINISHED else 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run `python -m collage.demo` and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    add = parser.add_argument
    add("--home", type=Path, required=True, help="folder of the demonstration; emptied first")
    add("--images", type=positive, default=120, help="default: %(default)s")
    add("--seed", type=int, default=1, help="of images, computers and deaths")
    add("--keep", action="store_true", help="leave the system up at the end")
    arguments = parser.parse_args(argv)
    try:
        with demonstration_folder(arguments.home) as folder:
            return _run(arguments, folder)
    except ServiceError as error:
        print_problem(error)
    except OSError as error:
        err.print(f"error: {sentence_of(error)}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
