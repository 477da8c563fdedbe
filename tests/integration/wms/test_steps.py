"""Steps over all chains: ranked against one another, switched off and on, counted."""

import asyncio

import pytest
from pydantic import ValidationError

from sluice.contracts.needs import Resources
from sluice.contracts.states import TaskState
from sluice.contracts.steps import OFF, RankStep, SetStepPriority, StepLoad
from sluice.contracts.tasks import Task
from tests.integration.wms.stage import Stage, make_task
from tests.integration.wms.test_query_plans import plan, scans
from wms.db.steps import SELECT_LOADS
from wms.usecases.explain import explain_job, explain_task
from wms.usecases.list_steps import list_steps
from wms.usecases.prioritise_step import prioritise_step


async def a_task(stage: Stage, step: str, *, jobs: int = 2, template: str = "ocr") -> Task:
    return await stage.add_task(make_task(step=step, template=template), jobs=jobs)


async def tell(stage: Stage, step: str, priority: float, **more: str) -> None:
    await prioritise_step(stage.context, RankStep(step=step, priority=priority, **more))


async def load(stage: Stage, step: str, template: str = "ocr") -> StepLoad:
    steps = (await list_steps(stage.context)).steps
    return next(found for found in steps if (found.step, found.template) == (step, template))


async def test_a_step_is_ranked_over_all_chains(stage: Stage) -> None:
    first, second = await a_task(stage, "layout"), await a_task(stage, "transcribe")
    other = await a_task(stage, "transcribe", template="maps")
    pilot = await stage.add_pilot()
    await tell(stage, "transcribe", 5)
    assert [job.task_uid for job in await stage.lease(pilot, 3)] == [
        second.uid,
        second.uid,
        other.uid,
    ]
    await tell(stage, "transcribe", 0, template="maps")
    assert [job.task_uid for job in await stage.lease(pilot)] == [first.uid], (
        "what is said of one template goes before what is said of all"
    )
    await tell(stage, "transcribe", 0)
    assert (await load(stage, "transcribe")).priority is None


async def test_a_step_that_is_switched_off_gives_no_job_away(stage: Stage, second: Stage) -> None:
    """By no instance; what runs is finished, and other steps go on."""
    task, other = await a_task(stage, "layout", jobs=3), await a_task(stage, "export", jobs=1)
    pilot = await stage.add_pilot()
    [begun] = await stage.lease(pilot)
    await tell(stage, "layout", OFF, reason="wrong model", by="Ada")
    given = [await at.lease(pilot, 4) for at in (stage, second)]
    assert [[job.task_uid for job in jobs] for jobs in given] == [[other.uid], []]
    await stage.finish(pilot, begun, *given[0])
    why = (await explain_task(stage.context, task.uid)).text
    assert why.startswith("Step layout is switched off by Ada since 20")
    assert why.endswith(
        "(wrong model): no job of it is given away (2 ready, 1 of 3 jobs finished)."
    )
    shown = await load(stage, "layout")
    assert shown.is_off
    assert (shown.waiting, shown.flying, shown.timed) == (2, 0, 1)
    waiting = asyncio.create_task(second.lease(pilot, 2, wait=20.0))
    await tell(stage, "layout", 0)
    assert len(await waiting) == 2, "who waits for jobs is told"


async def test_what_runs_of_a_step_that_is_switched_off_is_in_work(stage: Stage) -> None:
    task = await a_task(stage, "layout")
    pilot = await stage.add_pilot()
    [job] = await stage.lease(pilot)
    await tell(stage, "layout", OFF, template="ocr")
    why = (await explain_task(stage.context, task.uid)).text
    assert why.startswith("In work: 0 of 2 jobs finished, 1 with pilots, 1 ready; step layout is")
    assert "switched off in template ocr since" in why
    assert (await explain_job(stage.context, job.id + 1)).text.startswith("Ready: Step layout is")


async def test_a_pilot_is_not_kept_free_for_a_step_that_is_switched_off(stage: Stage) -> None:
    """Else nobody would use it."""
    big = make_task(step="big", resources=Resources(cores=4), rank=9)
    await stage.add_task(big, jobs=1)
    small = await a_task(stage, "small")
    pilot = await stage.add_pilot(cores=4)
    await stage.execute(
        "UPDATE tasks SET kept_by = $2, kept_until = now() + interval '1 minute' WHERE uid = $1",
        big.uid,
        pilot,
    )
    await tell(stage, "big", OFF)
    assert [job.task_uid for job in await stage.lease(pilot)] == [small.uid]


async def test_steps_are_counted_with_how_long_jobs_take(stage: Stage) -> None:
    task = await a_task(stage, "layout", jobs=4)
    pilot = await stage.add_pilot()
    await stage.execute("UPDATE jobs SET ready_at = now() - interval '100 seconds'")
    jobs = await stage.lease(pilot, 3)
    await stage.age(*jobs[:2], seconds=40)
    await stage.execute("UPDATE jobs SET started_at = leased_at WHERE leased_at IS NOT NULL")
    reports = [stage.report_of(job, started_at=None) for job in jobs[:2]]
    await stage.report(pilot, *reports)
    found = await load(stage, "layout")
    assert (found.tasks, found.waiting, found.flying, found.pilots, found.timed) == (1, 1, 1, 1, 2)
    assert found.mean == pytest.approx(40, abs=5)
    assert found.oldest is not None
    async with stage.database.connection() as connection:
        waited = await connection.fetchval("SELECT waited FROM tasks WHERE uid = $1", task.uid)
    assert waited == pytest.approx(120, abs=10), "a job waits for what of its time it does not run"
    await stage.finish(pilot, jobs[2], *await stage.lease(pilot))
    assert (await stage.status(task)).state is TaskState.FINISHED
    assert (await load(stage, "layout")).timed == 4, "also when its task has ended"


@pytest.mark.parametrize("priority", [-0.5, -2, 2e6, float("nan")])
def test_a_priority_that_means_nothing_is_refused(priority: float) -> None:
    with pytest.raises(ValidationError, match="or -1, which switches the step off"):
        SetStepPriority(priority=priority)


async def test_steps_are_listed_by_indexes(stage: Stage) -> None:
    """However many jobs wait."""
    await stage.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    for _ in range(3):
        await a_task(stage, "layout", jobs=4000)
    await stage.lease(await stage.add_pilot(), 100)
    await stage.execute("ANALYZE")
    assert scans(await plan(stage, SELECT_LOADS, None)) == {"jobs_ready", "jobs_in_flight"}
