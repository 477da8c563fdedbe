"""Faulty workers beside a correct one do not change the collage.

The faults are those of the collage's source. The picture equals that of a plain program, with every
photo exactly once.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from collage.computers import Fault, OldComputer
from collage.demo import same_pixels
from collage.workers import Worker

from sluice.cli.connection import connected
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.pilots.pilot_detail import PilotDetail
from tests.e2e.commands import sluice
from tests.e2e.systems import LEASE, QUICK_LEASES, LiveSystem, live_system
from tests.e2e.test_collage import HEIGHT, WORKFLOW, folder

pytestmark = [pytest.mark.long("slow by nature"), pytest.mark.xdist_group("e2e-old-computers")]

__all__ = ["folder"]

SPEED_UP = 20.0


@pytest.fixture(scope="module")
def hall() -> Iterator[LiveSystem]:
    """Yield a system without pilots that checks outputs before a report counts."""
    looking = {"SLUICE_WMS_LOOK_AT_OUTPUTS": "content"}
    with live_system("--pilots", "0", environment=QUICK_LEASES | looking) as system:
        yield system


def worker(
    hall: LiveSystem, place: Path, name: str, way: Fault, *, dies_after: float | None = None
) -> Worker:
    computer = OldComputer(name, Random(name), way, factor=0.0, speed_up=SPEED_UP)
    url, token = f"{hall.url}/services/wms", hall.home / "pilot-token"
    return Worker(computer, place / name, url, LEASE * 1.5, dies_after, token=token)


async def carry(
    hall: LiveSystem, photos: Path, out: Path, workers: list[Worker]
) -> dict[str, PilotDetail]:
    """Make a collage with these workers, and return what the system knows of them, by name."""
    stop = asyncio.Event()
    living = [asyncio.create_task(one.live(stop)) for one in workers]
    options = ["--order", "mtime", "--param", f"height={HEIGHT}", "--url", hall.url]
    try:
        await asyncio.to_thread(
            sluice, "run", str(WORKFLOW), "--input", str(photos), *options, "--out", str(out)
        )
        async with connected(hall.url) as connection:
            pilots = (await connection.operator.list_pilots()).pilots
            return {pilot.name: await connection.operator.get_pilot(pilot.uid) for pilot in pilots}
    finally:
        stop.set()
        await asyncio.gather(*living)


@pytest.mark.parametrize("way", [way for way in Fault if way is not Fault.NONE])
async def test_faulty_worker_does_not_change_the_result(
    hall: LiveSystem, folder: Path, tmp_path: Path, way: Fault
) -> None:
    good = worker(hall, tmp_path, f"good-beside-{way}", Fault.NONE)
    bad = worker(hall, tmp_path, f"bad-{way}", way)
    runs = await carry(hall, folder / "photos", tmp_path / "out", [good, bad])
    assert same_pixels(tmp_path / "out" / "collage.png", folder / "plain.png")
    assert good.statistics.finished == runs[good.computer.name].pilot.finished
    run = runs[bad.computer.name]
    ends = [(job.outcome, job.error_class) for job in run.ended]
    match way:
        case Fault.SILENT:
            assert run.pilot.finished == 0
            # A duplicate attempt was faster, or on a busy machine the worker was lost before.
            assert {outcome for outcome, _ in ends} & {AttemptOutcome.CANCELED, AttemptOutcome.LOST}
        case Fault.MISSING | Fault.SIZE | Fault.CHECKSUM:
            assert set(ends) == {(AttemptOutcome.FAILED, ErrorClass.STAGE_OUT_FAILED)}
        case Fault.LATE:
            assert run.pilot.finished == 0
        case _:
            assert run.pilot.finished > 0


async def test_dead_worker_does_not_change_the_result(
    hall: LiveSystem, folder: Path, tmp_path: Path
) -> None:
    good = worker(hall, tmp_path, "good-beside-mortal", Fault.NONE)
    mortal = worker(hall, tmp_path, "mortal", Fault.NONE, dies_after=0.3)
    runs = await carry(hall, folder / "photos", tmp_path / "out", [good, mortal])
    assert same_pixels(tmp_path / "out" / "collage.png", folder / "plain.png")
    assert mortal.fate == "died"
    assert runs["mortal"].pilot.finished < runs["good-beside-mortal"].pilot.finished
