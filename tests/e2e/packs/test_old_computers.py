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

from sluice.clientkit.connection import connected
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.pilots.pilot_detail import PilotDetail
from tests.e2e.commands import run_sluice
from tests.e2e.packs.conftest import HEIGHT, WORKFLOW
from tests.e2e.systems import LEASE, QUICK_LEASES, LiveSystem, run_live_system

pytestmark = [pytest.mark.long("slow by nature"), pytest.mark.xdist_group("e2e-old-computers")]

SPEED_UP = 20.0


@pytest.fixture(scope="module")
def system_without_pilots() -> Iterator[LiveSystem]:
    """Yield a system without pilots that checks outputs before a report counts."""
    environment = {"SLUICE_WMS_LOOK_AT_OUTPUTS": "content"}
    with run_live_system("--pilots", "0", environment=QUICK_LEASES | environment) as system:
        yield system


def start_worker(
    hall: LiveSystem, folder: Path, name: str, fault: Fault, *, dies_after: float | None = None
) -> Worker:
    computer = OldComputer(name, Random(name), fault, factor=0.0, speed_up=SPEED_UP)
    url, token = f"{hall.url}/services/wms", hall.home / "pilot-token"
    return Worker(computer, folder / name, url, LEASE * 1.5, dies_after, token=token)


async def make_collage(
    hall: LiveSystem, photos: Path, out: Path, workers: list[Worker]
) -> dict[str, PilotDetail]:
    """Make a collage with these workers, and return what the system knows of them, by name."""
    stop = asyncio.Event()
    living = [asyncio.create_task(one.live(stop)) for one in workers]
    options = ["--order", "mtime", "--param", f"height={HEIGHT}", "--url", hall.url]
    try:
        await asyncio.to_thread(
            run_sluice, "run", str(WORKFLOW), "--input", str(photos), *options, "--out", str(out)
        )
        async with connected(hall.url) as connection:
            pilots = (await connection.operator.list_pilots()).pilots
            return {pilot.name: await connection.operator.get_pilot(pilot.uid) for pilot in pilots}
    finally:
        stop.set()
        await asyncio.gather(*living)


@pytest.mark.parametrize("fault", [way for way in Fault if way is not Fault.NONE])
async def test_faulty_worker_does_not_change_the_result(
    system_without_pilots: LiveSystem, collage_folder: Path, tmp_path: Path, fault: Fault
) -> None:
    good = start_worker(system_without_pilots, tmp_path, f"good-beside-{fault}", Fault.NONE)
    bad = start_worker(system_without_pilots, tmp_path, f"bad-{fault}", fault)
    runs = await make_collage(
        system_without_pilots, collage_folder / "photos", tmp_path / "out", [good, bad]
    )
    assert same_pixels(tmp_path / "out" / "collage.png", collage_folder / "plain.png")
    assert good.statistics.finished == runs[good.computer.name].pilot.finished
    run = runs[bad.computer.name]
    ends = [(job.outcome, job.error_class) for job in run.ended]
    match fault:
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
    system_without_pilots: LiveSystem, collage_folder: Path, tmp_path: Path
) -> None:
    good = start_worker(system_without_pilots, tmp_path, "good-beside-mortal", Fault.NONE)
    dying_worker = start_worker(
        system_without_pilots, tmp_path, "mortal", Fault.NONE, dies_after=0.3
    )
    runs = await make_collage(
        system_without_pilots, collage_folder / "photos", tmp_path / "out", [good, dying_worker]
    )
    assert same_pixels(tmp_path / "out" / "collage.png", collage_folder / "plain.png")
    assert dying_worker.fate == "died"
    assert runs["mortal"].pilot.finished < runs["good-beside-mortal"].pilot.finished
