"""Jobs are reserved for a busy pilot that ends them earlier than a slow pilot."""

import re
from dataclasses import replace
from uuid import UUID

from sluice.contracts.jobs.resources import Amounts
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.pilots import FreeCapacity, LeaseRequest
from tests.integration.wms.stage import Stage, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.db.pilots.worker_times import WorkKind
from wms.usecases.leasing.explain import explain_task
from wms.usecases.leasing.lease_jobs import lease_jobs
from wms.usecases.pilots.drain_pilot import drain_pilot
from wms.usecases.ttl_cache import TtlCache

WORK = WorkKind("t", "decode")
#: Estimates in seconds, so long that the seconds which a test takes do not matter.
SLOW, QUICK, RAN = 100_000.0, 10_000.0, 5_000.0
PLENTY = Amounts(cores=8, ram=16_000, disk=100_000)


def drop_caches(stage: Stage) -> None:
    """Drop cached values, so that they are looked up again."""
    stage.context = replace(stage.context, other_workers=TtlCache(), worker_trouble=TtlCache())


async def lease(stage: Stage, pilot: UUID, jobs: int = 1) -> list[ClaimedJob]:
    request = LeaseRequest(jobs=jobs, free_capacity=FreeCapacity(free=PLENTY, soon=PLENTY))
    return (await lease_jobs(stage.context, pilot, request)).jobs


async def slow_and_quick(stage: Stage) -> tuple[UUID, UUID]:
    """Add a pilot that takes ``SLOW`` for a job, and a pilot that takes ``QUICK``."""
    slow, quick = [await stage.add_pilot(name=name) for name in ("slow", "quick")]
    await stage.learn(*[(slow, SLOW)] * 3, *[(quick, QUICK)] * 3)
    return slow, quick


async def busy(stage: Stage, pilot: UUID, *, step: str = "decode") -> Task:
    """Let the pilot run a job of another task, which started ``RAN`` ago."""
    task = await stage.add_task(make_task(step=step), jobs=1)
    (job,) = await lease(stage, pilot)
    await stage.beat(pilot, running=[job])
    await stage.age(job, seconds=RAN)
    drop_caches(stage)
    return task


async def test_last_jobs_are_reserved_for_a_busy_pilot_that_ends_them_earlier(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick)
    task = await stage.add_task(make_task(), jobs=3)
    assert await lease(stage, slow, 4) == []
    text = (await explain_task(stage.context, task.uid)).text
    assert text.startswith("Next in line")
    # The quick pilot ends the first job after 15 000 s, the slow pilot after 100 000 s.
    assert re.search(
        r"; 3 are kept for pilot quick \(h\), which will have ended the first 85\d{3} s before"
        r" slow \(h\)\.$",
        text,
    )
    assert len(await lease(stage, quick, 4)) == 3


async def test_jobs_beyond_the_reservation_go_to_the_slow_pilot(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick)
    await stage.add_task(make_task(), jobs=11)
    # The quick pilot has done nine jobs after 95 000 s.
    assert [job.seq for job in await lease(stage, slow, 4)] == [0, 1]


async def test_nothing_is_reserved_for_a_draining_pilot(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick)
    await drain_pilot(stage.context, quick)
    drop_caches(stage)
    await stage.add_task(make_task(), jobs=1)
    assert len(await lease(stage, slow)) == 1


async def test_nothing_is_reserved_for_a_pilot_whose_jobs_fail(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick)
    await stage.learn(*[(quick, None)] * 5)
    drop_caches(stage)
    task = await stage.add_task(make_task(), jobs=1)
    text = (await explain_task(stage.context, task.uid)).text
    assert "seldom given to quick (h), where its jobs fail and elsewhere succeed" in text
    assert len(await lease(stage, slow)) == 1


async def test_nothing_is_reserved_for_a_pilot_with_a_long_job(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await stage.learn((quick, 10 * SLOW), step="long")
    await busy(stage, quick, step="long")
    await stage.add_task(make_task(), jobs=1)
    assert len(await lease(stage, slow)) == 1


async def test_nothing_is_reserved_for_a_pilot_with_a_job_of_unknown_run_time(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick, step="new")
    await stage.add_task(make_task(), jobs=1)
    assert len(await lease(stage, slow)) == 1


async def test_reservation_ends_when_the_busy_pilot_does_not_come(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick)
    task = await stage.add_task(make_task(), jobs=1)
    assert await lease(stage, slow) == []
    await stage.execute(
        "UPDATE tasks SET created_at = created_at - make_interval(secs => $2) WHERE uid = $1",
        task.uid,
        SLOW + 1,
    )
    assert len(await lease(stage, slow)) == 1


async def test_pilot_without_known_run_times_gets_a_job_at_once(stage: Stage) -> None:
    _, quick = await slow_and_quick(stage)
    await busy(stage, quick)
    new = await stage.add_pilot(name="new")
    await stage.add_task(make_task(), jobs=1)
    assert len(await lease(stage, new)) == 1


async def test_slow_pilot_gets_jobs_of_other_steps_meanwhile(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick)
    await stage.add_task(make_task(), jobs=1)
    other = await stage.add_task(make_task(step="other"), jobs=1)
    assert [job.task_uid for job in await lease(stage, slow, 4)] == [other.uid]
