"""Jobs are reserved for a busy pilot that ends them earlier than a slow pilot."""

import re
from dataclasses import replace
from uuid import UUID

from sluice.contracts.jobs.resources import Amounts
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.leases import FreeCapacity, LeaseRequest
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.db.pilots.pilot_times import WorkKind
from wms.usecases.leasing.explain_task import explain_task
from wms.usecases.leasing.lease_jobs import lease_jobs
from wms.usecases.pilots.drain_pilot import drain_pilot
from wms.usecases.ttl_cache import TtlCache

WORK = WorkKind("t", "decode")
#: Estimates in seconds, so long that the seconds which a test takes do not matter.
SLOW, QUICK, RAN = 100_000.0, 10_000.0, 5_000.0
PLENTY = Amounts(cores=8, ram=16_000, disk=100_000)


def drop_caches(wms: WmsFixture) -> None:
    """Drop cached values, so that they are looked up again."""
    wms.context = replace(wms.context, other_pilots=TtlCache(), pilot_limits=TtlCache())


async def request_jobs(wms: WmsFixture, pilot: UUID, jobs: int = 1) -> list[ClaimedJob]:
    request = LeaseRequest(jobs=jobs, free_capacity=FreeCapacity(free=PLENTY, soon=PLENTY))
    return (await lease_jobs(wms.context, pilot, request)).jobs


async def add_slow_and_quick_pilot(wms: WmsFixture) -> tuple[UUID, UUID]:
    """Add a pilot that takes ``SLOW`` for a job, and a pilot that takes ``QUICK``."""
    slow, quick = [await wms.add_pilot(name=name) for name in ("slow", "quick")]
    await wms.record_durations(*[(slow, SLOW)] * 3, *[(quick, QUICK)] * 3)
    return slow, quick


async def start_other_job(wms: WmsFixture, pilot: UUID, *, step: str = "decode") -> Task:
    """Let the pilot run a job of another task, which started ``RAN`` ago."""
    task = await wms.add_task(make_task(step=step), jobs=1)
    (job,) = await request_jobs(wms, pilot)
    await wms.send_heartbeat(pilot, running=[job])
    await wms.backdate_start(job, seconds=RAN)
    drop_caches(wms)
    return task


async def test_last_jobs_are_reserved_for_a_busy_pilot_that_ends_them_earlier(
    wms: WmsFixture,
) -> None:
    slow, quick = await add_slow_and_quick_pilot(wms)
    await start_other_job(wms, quick)
    task = await wms.add_task(make_task(), jobs=3)
    assert await request_jobs(wms, slow, 4) == []
    text = (await explain_task(wms.context, task.uid)).text
    assert text.startswith("Next in line")
    # The quick pilot ends the first job after 15 000 s, the slow pilot after 100 000 s.
    assert re.search(
        r"; 3 are reserved for pilot quick \(h\), which is expected to finish the first 85\d{3} s"
        r" earlier than slow \(h\)\.$",
        text,
    )
    assert len(await request_jobs(wms, quick, 4)) == 3


async def test_jobs_beyond_the_reservation_go_to_the_slow_pilot(wms: WmsFixture) -> None:
    slow, quick = await add_slow_and_quick_pilot(wms)
    await start_other_job(wms, quick)
    await wms.add_task(make_task(), jobs=11)
    # The quick pilot has done nine jobs after 95 000 s.
    assert [job.seq for job in await request_jobs(wms, slow, 4)] == [0, 1]


async def test_nothing_is_reserved_for_a_draining_pilot(wms: WmsFixture) -> None:
    slow, quick = await add_slow_and_quick_pilot(wms)
    await start_other_job(wms, quick)
    await drain_pilot(wms.context, quick)
    drop_caches(wms)
    await wms.add_task(make_task(), jobs=1)
    assert len(await request_jobs(wms, slow)) == 1


async def test_nothing_is_reserved_for_a_pilot_whose_jobs_fail(wms: WmsFixture) -> None:
    slow, quick = await add_slow_and_quick_pilot(wms)
    await start_other_job(wms, quick)
    await wms.record_durations(*[(quick, None)] * 5)
    drop_caches(wms)
    task = await wms.add_task(make_task(), jobs=1)
    text = (await explain_task(wms.context, task.uid)).text
    assert "rarely leased to quick (h), where its jobs fail although they succeed" in text
    assert len(await request_jobs(wms, slow)) == 1


async def test_nothing_is_reserved_for_a_pilot_with_a_long_job(wms: WmsFixture) -> None:
    slow, quick = await add_slow_and_quick_pilot(wms)
    await wms.record_durations((quick, 10 * SLOW), step="long")
    await start_other_job(wms, quick, step="long")
    await wms.add_task(make_task(), jobs=1)
    assert len(await request_jobs(wms, slow)) == 1


async def test_nothing_is_reserved_for_a_pilot_with_a_job_of_unknown_run_time(
    wms: WmsFixture,
) -> None:
    slow, quick = await add_slow_and_quick_pilot(wms)
    await start_other_job(wms, quick, step="new")
    await wms.add_task(make_task(), jobs=1)
    assert len(await request_jobs(wms, slow)) == 1


async def test_reservation_ends_when_the_busy_pilot_does_not_come(wms: WmsFixture) -> None:
    slow, quick = await add_slow_and_quick_pilot(wms)
    await start_other_job(wms, quick)
    task = await wms.add_task(make_task(), jobs=1)
    assert await request_jobs(wms, slow) == []
    await wms.execute(
        "UPDATE tasks SET created_at = created_at - make_interval(secs => $2) WHERE uid = $1",
        task.uid,
        SLOW + 1,
    )
    assert len(await request_jobs(wms, slow)) == 1


async def test_pilot_without_known_run_times_gets_a_job_at_once(wms: WmsFixture) -> None:
    _, quick = await add_slow_and_quick_pilot(wms)
    await start_other_job(wms, quick)
    new = await wms.add_pilot(name="new")
    await wms.add_task(make_task(), jobs=1)
    assert len(await request_jobs(wms, new)) == 1


async def test_slow_pilot_gets_jobs_of_other_steps_meanwhile(wms: WmsFixture) -> None:
    slow, quick = await add_slow_and_quick_pilot(wms)
    await start_other_job(wms, quick)
    await wms.add_task(make_task(), jobs=1)
    other = await wms.add_task(make_task(step="other"), jobs=1)
    assert [job.task_uid for job in await request_jobs(wms, slow, 4)] == [other.uid]
