"""Steps are ranked, disabled and enabled, and counted over all chains."""

import asyncio

import pytest
from pydantic import ValidationError

from sluice.contracts.common.states import TaskState
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.jobs.steps import DISABLED, RankStep, SetStepPriority, StepLoad
from sluice.contracts.jobs.tasks import Task
from tests.integration.wms.leasing.test_query_plans import plan, scans
from tests.integration.wms.stage import Stage, make_task
from wms.db.tasks.steps import SELECT_LOADS
from wms.usecases.leasing.explain import explain_job, explain_task
from wms.usecases.tasks.list_steps import list_steps
from wms.usecases.tasks.prioritise_step import prioritise_step


async def add_step_task(stage: Stage, step: str, *, jobs: int = 2, template: str = "ocr") -> Task:
    return await stage.add_task(make_task(step=step, template=template), jobs=jobs)


async def set_priority(stage: Stage, step: str, priority: float, **more: str) -> None:
    await prioritise_step(stage.context, RankStep(step=step, priority=priority, **more))


async def get_load(stage: Stage, step: str, template: str = "ocr") -> StepLoad:
    steps = (await list_steps(stage.context)).steps
    return next(
        step_load for step_load in steps if (step_load.step, step_load.template) == (step, template)
    )


async def test_step_is_ranked_over_all_chains(stage: Stage) -> None:
    first, second = await add_step_task(stage, "layout"), await add_step_task(stage, "transcribe")
    other = await add_step_task(stage, "transcribe", template="maps")
    pilot = await stage.add_pilot()
    await set_priority(stage, "transcribe", 5)
    assert [job.task_uid for job in await stage.lease(pilot, 3)] == [
        second.uid,
        second.uid,
        other.uid,
    ]
    await set_priority(stage, "transcribe", 0, template="maps")
    assert [job.task_uid for job in await stage.lease(pilot)] == [first.uid], (
        "the priority in a template does not take precedence"
    )
    await set_priority(stage, "transcribe", 0)
    assert (await get_load(stage, "transcribe")).priority is None


async def test_disabled_step_leases_no_jobs(stage: Stage, second: Stage) -> None:
    """This holds for all instances. Running jobs finish, and other steps go on."""
    task, other = (
        await add_step_task(stage, "layout", jobs=3),
        await add_step_task(stage, "export", jobs=1),
    )
    pilot = await stage.add_pilot()
    [running_job] = await stage.lease(pilot)
    await set_priority(stage, "layout", DISABLED, reason="wrong model", by="Ada")
    leases = [await at.lease(pilot, 4) for at in (stage, second)]
    assert [[job.task_uid for job in jobs] for jobs in leases] == [[other.uid], []]
    await stage.finish(pilot, running_job, *leases[0])
    why = (await explain_task(stage.context, task.uid)).text
    assert why.startswith("Step layout is disabled by Ada since 20")
    assert why.endswith(
        "(wrong model): no job of it is given away (2 ready, 1 of 3 jobs finished)."
    )
    shown = await get_load(stage, "layout")
    assert shown.is_disabled
    assert (shown.waiting, shown.flying, shown.timed) == (2, 0, 1)
    waiting = asyncio.create_task(second.lease(pilot, 2, wait=20.0))
    await set_priority(stage, "layout", 0)
    assert len(await waiting) == 2, "the waiting request did not get the jobs"


async def test_task_with_running_jobs_of_a_disabled_step_is_explained(stage: Stage) -> None:
    task = await add_step_task(stage, "layout")
    pilot = await stage.add_pilot()
    [job] = await stage.lease(pilot)
    await set_priority(stage, "layout", DISABLED, template="ocr")
    why = (await explain_task(stage.context, task.uid)).text
    assert why.startswith("In work: 0 of 2 jobs finished, 1 with pilots, 1 ready; step layout is")
    assert "disabled in template ocr since" in why
    assert (await explain_job(stage.context, job.id + 1)).text.startswith("Ready: Step layout is")


async def test_pilot_is_not_reserved_for_a_disabled_step(stage: Stage) -> None:
    """Otherwise no job would use the pilot."""
    big = make_task(step="big", resources=Resources(cores=4), rank=9)
    await stage.add_task(big, jobs=1)
    small = await add_step_task(stage, "small")
    pilot = await stage.add_pilot(cores=4)
    await stage.execute(
        "UPDATE tasks SET kept_by = $2, kept_until = now() + interval '1 minute' WHERE uid = $1",
        big.uid,
        pilot,
    )
    await set_priority(stage, "big", DISABLED)
    assert [job.task_uid for job in await stage.lease(pilot)] == [small.uid]


async def test_steps_are_counted_with_their_run_and_waiting_times(stage: Stage) -> None:
    task = await add_step_task(stage, "layout", jobs=4)
    pilot = await stage.add_pilot()
    await stage.execute("UPDATE jobs SET ready_at = now() - interval '100 seconds'")
    jobs = await stage.lease(pilot, 3)
    await stage.age(*jobs[:2], seconds=40)
    await stage.execute("UPDATE jobs SET started_at = leased_at WHERE leased_at IS NOT NULL")
    reports = [stage.report_of(job, started_at=None) for job in jobs[:2]]
    await stage.report(pilot, *reports)
    load = await get_load(stage, "layout")
    assert (load.tasks, load.waiting, load.flying, load.pilots, load.timed) == (1, 1, 1, 1, 2)
    assert load.mean == pytest.approx(40, abs=5)
    assert load.oldest is not None
    async with stage.database.connection() as connection:
        waited = await connection.fetchval("SELECT waited FROM tasks WHERE uid = $1", task.uid)
    assert waited == pytest.approx(120, abs=10), "the waiting time is not the time without a run"
    await stage.finish(pilot, jobs[2], *await stage.lease(pilot))
    assert (await stage.status(task)).state is TaskState.FINISHED
    assert (await get_load(stage, "layout")).timed == 4, "jobs of an ended task are missing"


@pytest.mark.parametrize("priority", [-0.5, -2, 2e6, float("nan")])
def test_invalid_priority_is_refused(priority: float) -> None:
    with pytest.raises(ValidationError, match="or -1, which disables the step"):
        SetStepPriority(priority=priority)


async def test_steps_are_listed_by_indexes(stage: Stage) -> None:
    """The number of waiting jobs does not matter."""
    await stage.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    for _ in range(3):
        await add_step_task(stage, "layout", jobs=4000)
    await stage.lease(await stage.add_pilot(), 100)
    await stage.execute("ANALYZE")
    assert scans(await plan(stage, SELECT_LOADS, None)) == {"jobs_ready", "jobs_in_flight"}
