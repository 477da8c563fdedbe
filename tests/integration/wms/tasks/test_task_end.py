"""Tasks end by boundary conditions or cancellation, with a reason."""

import asyncio

import pytest

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import ErrorClass, JobState, ReportAnswer, TaskState
from sluice.contracts.jobs.tasks import Cancel, Task
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.stage import Stage, make_task
from wms.usecases.leasing.explain import explain_task
from wms.usecases.tasks.cancel_task import cancel_task
from wms.usecases.tasks.prioritise_task import prioritise_task
from wms.usecases.tasks.read_tasks import read_task_status, read_task_statuses


async def killed(stage: Stage, task: Task) -> int | None:
    return (await read_task_status(stage.context, task.uid)).killed


async def test_sufficient_share_finishes_the_task_and_cancels_the_rest(stage: Stage) -> None:
    """Invariants 3 and 5: later reports are stale, and close_at counts only registered files."""
    task = await stage.add_task(make_task(boundary=Boundary(minimum=0.5, sufficient=0.8)), jobs=10)
    pilot = await stage.add_pilot()
    jobs = await stage.lease(pilot, 9)
    await stage.finish(pilot, *jobs[:8])
    status = await stage.status(task)
    assert (status.state, status.finished, status.canceled, status.leased, status.ready) == (
        TaskState.FINISHED,
        8,
        2,
        0,
        0,
    )
    assert await stage.states(task) == {JobState.FINISHED: 8, JobState.CANCELED: 2}
    assert await killed(stage, task) == 1, "a job without a pilot counts as killed"
    answer = await stage.beat(pilot, running=[jobs[8]])
    assert [(command.kind, command.job.id) for command in answer.commands] == [
        ("cancel", jobs[8].id)
    ]
    assert await stage.finish(pilot, jobs[8]) == [ReportAnswer.STALE]
    sent = await stage.sent()
    assert sent.close_at[task.main_output.dat_out_uid] == [8]
    assert len(sent.files[task.main_output.dat_out_uid]) == 8


async def test_task_fails_at_once_when_its_minimum_is_out_of_reach(stage: Stage) -> None:
    task = await stage.add_task(
        make_task(retry=1, boundary=Boundary(minimum=0.8, sufficient=1.0)), jobs=10
    )
    pilot = await stage.add_pilot()
    jobs = await stage.lease(pilot, 3)
    await stage.fail(pilot, *jobs[:2])
    assert (await stage.status(task)).state is TaskState.ACTIVE
    await stage.fail(pilot, jobs[2])
    status = await stage.status(task)
    assert (status.state, status.failed, status.canceled) == (TaskState.FAILED, 3, 7)
    assert (
        "3 of 10 jobs failed, so that the 8 that must succeed (minimum 0.8 of them,"
        " sluice:boundary) cannot be reached" in status.reason
    )
    assert (await stage.sent()).close_at == {
        task.main_output.dat_out_uid: [0],
        task.log_out_uid: [3],
    }


async def test_task_is_canceled_when_failures_outnumber_successes(stage: Stage) -> None:
    task = await stage.add_task(
        make_task(retry=1, boundary=Boundary(minimum=0.5, sufficient=1.0)), jobs=100
    )
    pilot = await stage.add_pilot()
    jobs = await stage.lease(pilot, 20)
    await stage.finish(pilot, *jobs[:9])
    await stage.fail(pilot, *jobs[9:])
    status = await stage.status(task)
    assert (status.state, status.canceled) == (TaskState.CANCELED, 80)
    assert "of the first 20 jobs 11 failed" in status.reason


async def test_cancellation_stops_all_jobs_and_may_be_repeated(stage: Stage) -> None:
    """Invariant 5: the task ends once."""
    task = await stage.add_task(make_task(), jobs=5)
    pilot = await stage.add_pilot()
    done, flying = await stage.lease(pilot, 2)
    await stage.finish(pilot, done)
    status = await cancel_task(stage.context, task.uid)
    assert (status.state, status.finished, status.canceled) == (TaskState.CANCELED, 1, 4)
    assert await killed(stage, task) == 1
    assert await cancel_task(stage.context, task.uid) == status
    assert await stage.finish(pilot, flying) == [ReportAnswer.STALE]
    assert await stage.lease(pilot, 5) == []
    sent = await stage.sent()
    assert sent.close_at == {task.main_output.dat_out_uid: [1], task.log_out_uid: [1]}
    assert len(sent.ended) == 1
    with pytest.raises(NotFound):
        await cancel_task(stage.context, make_task().uid)
    with pytest.raises(Conflict):
        await prioritise_task(stage.context, task.uid, 5)


async def test_canceled_task_keeps_its_first_reason(stage: Stage) -> None:
    task = await stage.add_task(make_task(), jobs=2)
    status = await cancel_task(stage.context, task.uid, Cancel(reason="step b failed"))
    assert status.reason == "step b failed"
    assert (await cancel_task(stage.context, task.uid)).reason == "step b failed"
    assert (await explain_task(stage.context, task.uid)).text == "Canceled: step b failed."


async def test_killed_jobs_exclude_failed_jobs(
    stage: Stage,
) -> None:
    failed = await stage.add_task(make_task(retry=1), jobs=2)
    pilot = await stage.add_pilot()
    first, _ = await stage.lease(pilot, 2)
    await stage.fail(pilot, first, error=ErrorClass.TOOL_TIMEOUT)
    assert (await stage.status(failed)).state is TaskState.FAILED
    live = await stage.add_task(make_task(), jobs=1)
    listed = await read_task_statuses(stage.context, [failed.uid, live.uid], state=None, limit=2)
    assert {task.uid: (task.failed, task.canceled, task.killed) for task in listed} == {
        failed.uid: (1, 1, 1),
        live.uid: (0, 0, 0),
    }


async def test_finished_task_cannot_be_canceled(stage: Stage) -> None:
    """Invariant 5: a final task stays as it is."""
    task = await stage.add_task(make_task(), jobs=1)
    pilot = await stage.add_pilot()
    await stage.finish(pilot, *await stage.lease(pilot))
    with pytest.raises(Conflict):
        await cancel_task(stage.context, task.uid)
    assert (await stage.status(task)).state is TaskState.FINISHED


async def test_concurrent_cancellation_and_last_report_end_the_task_once(
    stage: Stage, second: Stage
) -> None:
    """Invariants 3, 5 and 7: the first request decides, and the other is refused."""
    for _ in range(10):
        task = await stage.add_task(make_task(), jobs=3)
        pilot = await stage.add_pilot()
        jobs = await stage.lease(pilot, 3)
        outcome = await asyncio.gather(
            stage.finish(pilot, *jobs),
            cancel_task(second.context, task.uid),
            return_exceptions=True,
        )
        status, sent = await stage.status(task), await stage.sent()
        assert len([event for event in sent.ended if event.uid == task.uid]) == 1
        assert sent.close_at[task.main_output.dat_out_uid] == [
            len(sent.files.get(task.main_output.dat_out_uid, []))
        ]
        if status.state is TaskState.FINISHED:
            assert isinstance(outcome[1], Conflict)
            assert outcome[0] == [ReportAnswer.ACCEPTED] * 3
        else:
            assert status.state is TaskState.CANCELED
            assert outcome[0] == [ReportAnswer.STALE] * 3


async def test_held_jobs_do_not_block_a_task_that_has_reached_its_minimum(stage: Stage) -> None:
    task = await stage.add_task(make_task(boundary=Boundary(minimum=0.5, sufficient=1.0)), jobs=2)
    pilot = await stage.add_pilot()
    for _ in range(5):
        (job,) = [job for job in await stage.lease(pilot, 1) if job.seq == 0]
        await stage.overdue(job)
        await stage.expire()
    assert (await stage.status(task)).quarantined == 1
    await stage.finish(pilot, *await stage.lease(pilot))
    status = await stage.status(task)
    assert (status.state, status.finished, status.canceled) == (TaskState.FINISHED, 1, 1)


async def test_rank_set_by_an_operator_takes_effect_at_once(stage: Stage) -> None:
    await stage.add_task(make_task(rank=5), jobs=1)
    late = await stage.add_task(make_task(), jobs=1)
    assert (await prioritise_task(stage.context, late.uid, 9)).rank == 9
    pilot = await stage.add_pilot()
    assert [job.task_uid for job in await stage.lease(pilot)] == [late.uid]
