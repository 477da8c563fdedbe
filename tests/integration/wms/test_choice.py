"""Jobs that a slow pilot is not given, as a busy one will have done them before."""

from dataclasses import replace
from uuid import UUID

from sluice.contracts.pilots import LeaseRequest, Room
from sluice.contracts.resources import Amounts
from sluice.contracts.tasks import Task
from tests.integration.wms.stage import Stage, make_task
from wms.db.leases import ClaimedJob
from wms.db.worker_times import WorkKind
from wms.usecases.drain_pilot import drain_pilot
from wms.usecases.explain import explain_task
from wms.usecases.lease_jobs import lease_jobs
from wms.usecases.ttl_cache import TtlCache

WORK = WorkKind("t", "decode")
PLENTY = Amounts(cores=8, ram=16_000, disk=100_000)


def later(stage: Stage) -> None:
    """What was looked up a moment ago is looked up again."""
    stage.context = replace(stage.context, rivals=TtlCache(), distrust=TtlCache())


async def lease(stage: Stage, pilot: UUID, jobs: int = 1) -> list[ClaimedJob]:
    request = LeaseRequest(jobs=jobs, room=Room(free=PLENTY, soon=PLENTY))
    return (await lease_jobs(stage.context, pilot, request)).jobs


async def slow_and_quick(stage: Stage) -> tuple[UUID, UUID]:
    """One takes 100 s a job, the other 10 s."""
    slow, quick = [await stage.add_pilot(name=name) for name in ("slow", "quick")]
    await stage.learn(*[(slow, 100.0)] * 3, *[(quick, 10.0)] * 3)
    return slow, quick


async def busy(stage: Stage, pilot: UUID, *, seconds: float, step: str = "decode") -> Task:
    """It has run another task's job for so long."""
    task = await stage.add_task(make_task(step=step), jobs=1)
    (job,) = await lease(stage, pilot)
    await stage.beat(pilot, running=[job])
    await stage.age(job, seconds=seconds)
    later(stage)
    return task


async def test_the_last_jobs_are_kept_for_a_busy_pilot_that_ends_them_first(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick, seconds=5.0)
    task = await stage.add_task(make_task(), jobs=3)
    assert await lease(stage, slow, 4) == []
    text = (await explain_task(stage.context, task.uid)).text
    assert text.startswith("Next in line")
    # In 15 s, where the slow one takes 100.
    assert text.endswith(
        "; 3 are kept for pilot quick (h), which will have ended the first 85 s before slow (h)."
    )
    assert len(await lease(stage, quick, 4)) == 3


async def test_what_is_more_than_others_do_meanwhile_is_given(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick, seconds=5.0)
    await stage.add_task(make_task(), jobs=11)
    # The other has done nine of them after 95 s.
    assert [job.seq for job in await lease(stage, slow, 4)] == [0, 1]


async def test_nothing_is_kept_for_one_that_takes_no_jobs(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick, seconds=5.0)
    await drain_pilot(stage.context, quick)
    later(stage)
    await stage.add_task(make_task(), jobs=1)
    assert len(await lease(stage, slow)) == 1


async def test_nor_for_one_where_jobs_fail(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick, seconds=5.0)
    await stage.learn(*[(quick, None)] * 5)
    later(stage)
    task = await stage.add_task(make_task(), jobs=1)
    text = (await explain_task(stage.context, task.uid)).text
    assert "seldom given to quick (h), where its jobs fail and elsewhere succeed" in text
    assert len(await lease(stage, slow)) == 1


async def test_nor_for_one_that_has_long_work_in_hand(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await stage.learn((quick, 1000.0), step="long")
    await busy(stage, quick, seconds=5.0, step="long")
    await stage.add_task(make_task(), jobs=1)
    assert len(await lease(stage, slow)) == 1


async def test_nor_for_one_that_has_work_of_which_nothing_is_known(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick, seconds=5.0, step="new")
    await stage.add_task(make_task(), jobs=1)
    assert len(await lease(stage, slow)) == 1


async def test_what_is_kept_falls_when_nobody_comes_for_it(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick, seconds=5.0)
    task = await stage.add_task(make_task(), jobs=1)
    assert await lease(stage, slow) == []
    await stage.execute(
        "UPDATE tasks SET created_at = created_at - interval '101 s' WHERE uid = $1", task.uid
    )
    assert len(await lease(stage, slow)) == 1


async def test_one_of_which_nothing_is_known_is_given_a_job_at_once(stage: Stage) -> None:
    _, quick = await slow_and_quick(stage)
    await busy(stage, quick, seconds=5.0)
    new = await stage.add_pilot(name="new")
    await stage.add_task(make_task(), jobs=1)
    assert len(await lease(stage, new)) == 1


async def test_other_work_is_given_meanwhile(stage: Stage) -> None:
    slow, quick = await slow_and_quick(stage)
    await busy(stage, quick, seconds=5.0)
    await stage.add_task(make_task(), jobs=1)
    other = await stage.add_task(make_task(step="other"), jobs=1)
    assert [job.task_uid for job in await lease(stage, slow, 4)] == [other.uid]
