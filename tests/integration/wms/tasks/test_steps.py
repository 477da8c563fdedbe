"""Steps are ranked, disabled and enabled, and counted over all chains."""

import asyncio

import pytest
from pydantic import ValidationError

from sluice.contracts.common.states import TaskState
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.jobs.steps import DISABLED, RankStep, SetStepPriority, StepLoad
from sluice.contracts.jobs.tasks import Task
from tests.integration.wms.query_plans import explain_query, list_job_scans
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.tasks.steps import SELECT_LOADS
from wms.usecases.leasing.explain_job import explain_job
from wms.usecases.leasing.explain_task import explain_task
from wms.usecases.tasks.list_steps import list_steps
from wms.usecases.tasks.prioritise_step import prioritise_step


async def add_step_task(
    wms: WmsFixture, step: str, *, jobs: int = 2, template: str = "ocr"
) -> Task:
    return await wms.add_task(make_task(step=step, template=template), jobs=jobs)


async def set_priority(wms: WmsFixture, step: str, priority: float, **more: str) -> None:
    await prioritise_step(wms.context, RankStep(step=step, priority=priority, **more))


async def get_load(wms: WmsFixture, step: str, template: str = "ocr") -> StepLoad:
    steps = (await list_steps(wms.context)).steps
    return next(
        step_load for step_load in steps if (step_load.step, step_load.template) == (step, template)
    )


async def test_step_is_ranked_over_all_chains(wms: WmsFixture) -> None:
    first, second = await add_step_task(wms, "layout"), await add_step_task(wms, "transcribe")
    other = await add_step_task(wms, "transcribe", template="maps")
    pilot = await wms.add_pilot()
    await set_priority(wms, "transcribe", 5)
    assert [job.task_uid for job in await wms.lease(pilot, 3)] == [
        second.uid,
        second.uid,
        other.uid,
    ]
    await set_priority(wms, "transcribe", 0, template="maps")
    assert [job.task_uid for job in await wms.lease(pilot)] == [first.uid], (
        "the priority in a template does not take precedence"
    )
    await set_priority(wms, "transcribe", 0)
    assert (await get_load(wms, "transcribe")).priority is None


async def test_disabled_step_leases_no_jobs(wms: WmsFixture, other_wms: WmsFixture) -> None:
    """This holds for all instances. Running jobs finish, and other steps continue."""
    task, other = (
        await add_step_task(wms, "layout", jobs=3),
        await add_step_task(wms, "export", jobs=1),
    )
    pilot = await wms.add_pilot()
    [running_job] = await wms.lease(pilot)
    await set_priority(wms, "layout", DISABLED, reason="wrong model", by="Ada")
    leases = [await at.lease(pilot, 4) for at in (wms, other_wms)]
    assert [[job.task_uid for job in jobs] for jobs in leases] == [[other.uid], []]
    await wms.finish(pilot, running_job, *leases[0])
    explanation = (await explain_task(wms.context, task.uid)).text
    assert explanation.startswith("Step layout is disabled by Ada since 20")
    assert explanation.endswith(
        "(wrong model): none of its jobs is leased (2 ready, 1 of 3 jobs finished)."
    )
    step_load = await get_load(wms, "layout")
    assert step_load.is_disabled
    assert (step_load.waiting, step_load.in_flight, step_load.timed) == (2, 0, 1)
    waiting = asyncio.create_task(other_wms.lease(pilot, 2, wait=20.0))
    await set_priority(wms, "layout", 0)
    assert len(await waiting) == 2, "the waiting request did not get the jobs"


async def test_task_with_running_jobs_of_a_disabled_step_is_explained(wms: WmsFixture) -> None:
    task = await add_step_task(wms, "layout")
    pilot = await wms.add_pilot()
    [job] = await wms.lease(pilot)
    await set_priority(wms, "layout", DISABLED, template="ocr")
    explanation = (await explain_task(wms.context, task.uid)).text
    assert explanation.startswith(
        "In work: 0 of 2 jobs finished, 1 with pilots, 1 ready; step layout is"
    )
    assert "disabled in template ocr since" in explanation
    assert (await explain_job(wms.context, job.id + 1)).text.startswith("Ready: Step layout is")


async def test_pilot_is_not_reserved_for_a_disabled_step(wms: WmsFixture) -> None:
    """Otherwise no job would use the pilot."""
    big = make_task(step="big", resources=Resources(cores=4), rank=9)
    await wms.add_task(big, jobs=1)
    small = await add_step_task(wms, "small")
    pilot = await wms.add_pilot(cores=4)
    await wms.execute(
        "UPDATE tasks SET reserved_by = $2, reserved_until = now() + interval '1 minute'"
        " WHERE uid = $1",
        big.uid,
        pilot,
    )
    await set_priority(wms, "big", DISABLED)
    assert [job.task_uid for job in await wms.lease(pilot)] == [small.uid]


async def test_steps_are_counted_with_their_run_and_waiting_times(wms: WmsFixture) -> None:
    task = await add_step_task(wms, "layout", jobs=4)
    pilot = await wms.add_pilot()
    await wms.execute("UPDATE jobs SET ready_at = now() - interval '100 seconds'")
    jobs = await wms.lease(pilot, 3)
    await wms.backdate_start(*jobs[:2], seconds=40)
    await wms.execute("UPDATE jobs SET started_at = leased_at WHERE leased_at IS NOT NULL")
    reports = [wms.make_report(job, started_at=None) for job in jobs[:2]]
    await wms.report(pilot, *reports)
    load = await get_load(wms, "layout")
    assert (load.tasks, load.waiting, load.in_flight, load.pilots, load.timed) == (1, 1, 1, 1, 2)
    assert load.mean == pytest.approx(40, abs=5)
    assert load.oldest is not None
    async with wms.database.connection() as connection:
        waited = await connection.fetchval("SELECT waited FROM tasks WHERE uid = $1", task.uid)
    assert waited == pytest.approx(120, abs=10), "the waiting time is not the time without a run"
    await wms.finish(pilot, jobs[2], *await wms.lease(pilot))
    assert (await wms.status(task)).state is TaskState.FINISHED
    assert (await get_load(wms, "layout")).timed == 4, "jobs of an ended task are missing"


@pytest.mark.parametrize("priority", [-0.5, -2, 2e6, float("nan")])
def test_invalid_priority_is_refused(priority: float) -> None:
    with pytest.raises(ValidationError, match="or -1, which disables the step"):
        SetStepPriority(priority=priority)


async def test_steps_are_listed_by_indexes(wms: WmsFixture) -> None:
    """The number of waiting jobs does not matter."""
    await wms.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    for _ in range(3):
        await add_step_task(wms, "layout", jobs=4000)
    await wms.lease(await wms.add_pilot(), 100)
    await wms.execute("ANALYZE")
    assert list_job_scans(await explain_query(wms, SELECT_LOADS, None)) == {
        "jobs_ready",
        "jobs_in_flight",
    }
