"""Tasks end by boundary conditions or cancellation, with a reason."""

import asyncio

import pytest

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import ErrorClass, JobState, ReportAnswer, TaskState
from sluice.contracts.jobs.tasks import Cancel, Task
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.usecases.leasing.explain_task import explain_task
from wms.usecases.tasks.cancel_task import cancel_task
from wms.usecases.tasks.get_task import get_task
from wms.usecases.tasks.list_tasks import list_tasks
from wms.usecases.tasks.prioritise_task import prioritise_task


async def count_killed_jobs(wms: WmsFixture, task: Task) -> int | None:
    return (await get_task(wms.context, task.uid)).killed


async def test_sufficient_share_finishes_the_task_and_cancels_the_rest(wms: WmsFixture) -> None:
    """Invariants 3 and 5: later reports are stale, and close_at counts only registered files."""
    task = await wms.add_task(make_task(boundary=Boundary(minimum=0.5, sufficient=0.8)), jobs=10)
    pilot = await wms.add_pilot()
    jobs = await wms.lease(pilot, 9)
    await wms.finish(pilot, *jobs[:8])
    status = await wms.status(task)
    assert (status.state, status.finished, status.canceled, status.leased, status.ready) == (
        TaskState.FINISHED,
        8,
        2,
        0,
        0,
    )
    assert await wms.states(task) == {JobState.FINISHED: 8, JobState.CANCELED: 2}
    assert await count_killed_jobs(wms, task) == 1, "a job without a pilot counts as killed"
    answer = await wms.send_heartbeat(pilot, running=[jobs[8]])
    assert [(command.kind, command.job.id) for command in answer.commands] == [
        ("cancel", jobs[8].id)
    ]
    assert await wms.finish(pilot, jobs[8]) == [ReportAnswer.STALE]
    sent = await wms.sent_messages()
    assert sent.close_at[task.main_output.dat_out_uid] == [8]
    assert len(sent.files[task.main_output.dat_out_uid]) == 8


async def test_task_fails_at_once_when_its_minimum_is_out_of_reach(wms: WmsFixture) -> None:
    task = await wms.add_task(
        make_task(retry=1, boundary=Boundary(minimum=0.8, sufficient=1.0)), jobs=10
    )
    pilot = await wms.add_pilot()
    jobs = await wms.lease(pilot, 3)
    await wms.fail(pilot, *jobs[:2])
    assert (await wms.status(task)).state is TaskState.ACTIVE
    await wms.fail(pilot, jobs[2])
    status = await wms.status(task)
    assert (status.state, status.failed, status.canceled) == (TaskState.FAILED, 3, 7)
    assert (
        "3 of 10 jobs failed, so that the 8 that must succeed (minimum 0.8 of them,"
        " sluice:boundary) cannot be reached" in status.reason
    )
    assert (await wms.sent_messages()).close_at == {
        task.main_output.dat_out_uid: [0],
        task.log_out_uid: [3],
    }


async def test_task_is_canceled_when_failures_outnumber_successes(wms: WmsFixture) -> None:
    task = await wms.add_task(
        make_task(retry=1, boundary=Boundary(minimum=0.5, sufficient=1.0)), jobs=100
    )
    pilot = await wms.add_pilot()
    jobs = await wms.lease(pilot, 20)
    await wms.finish(pilot, *jobs[:9])
    await wms.fail(pilot, *jobs[9:])
    status = await wms.status(task)
    assert (status.state, status.canceled) == (TaskState.CANCELED, 80)
    assert "of the first 20 jobs 11 failed" in status.reason


async def test_cancellation_stops_all_jobs_and_may_be_repeated(wms: WmsFixture) -> None:
    """Invariant 5: the task ends once."""
    task = await wms.add_task(make_task(), jobs=5)
    pilot = await wms.add_pilot()
    done, in_flight = await wms.lease(pilot, 2)
    await wms.finish(pilot, done)
    status = await cancel_task(wms.context, task.uid)
    assert (status.state, status.finished, status.canceled) == (TaskState.CANCELED, 1, 4)
    assert await count_killed_jobs(wms, task) == 1
    assert await cancel_task(wms.context, task.uid) == status
    assert await wms.finish(pilot, in_flight) == [ReportAnswer.STALE]
    assert await wms.lease(pilot, 5) == []
    sent = await wms.sent_messages()
    assert sent.close_at == {task.main_output.dat_out_uid: [1], task.log_out_uid: [1]}
    assert len(sent.ended) == 1
    with pytest.raises(NotFound):
        await cancel_task(wms.context, make_task().uid)
    with pytest.raises(Conflict):
        await prioritise_task(wms.context, task.uid, 5)


async def test_canceled_task_keeps_its_first_reason(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(), jobs=2)
    status = await cancel_task(wms.context, task.uid, Cancel(reason="step b failed"))
    assert status.reason == "step b failed"
    assert (await cancel_task(wms.context, task.uid)).reason == "step b failed"
    assert (await explain_task(wms.context, task.uid)).text == "Canceled: step b failed."


async def test_killed_jobs_exclude_failed_jobs(
    wms: WmsFixture,
) -> None:
    failed = await wms.add_task(make_task(retry=1), jobs=2)
    pilot = await wms.add_pilot()
    first, _ = await wms.lease(pilot, 2)
    await wms.fail(pilot, first, error=ErrorClass.TOOL_TIMEOUT)
    assert (await wms.status(failed)).state is TaskState.FAILED
    live = await wms.add_task(make_task(), jobs=1)
    listed = await list_tasks(wms.context, [failed.uid, live.uid], state=None, limit=2)
    assert {task.uid: (task.failed, task.canceled, task.killed) for task in listed} == {
        failed.uid: (1, 1, 1),
        live.uid: (0, 0, 0),
    }


async def test_finished_task_cannot_be_canceled(wms: WmsFixture) -> None:
    """Invariant 5: a final task stays as it is."""
    task = await wms.add_task(make_task(), jobs=1)
    pilot = await wms.add_pilot()
    await wms.finish(pilot, *await wms.lease(pilot))
    with pytest.raises(Conflict):
        await cancel_task(wms.context, task.uid)
    assert (await wms.status(task)).state is TaskState.FINISHED


async def test_concurrent_cancellation_and_last_report_end_the_task_once(
    wms: WmsFixture, other_wms: WmsFixture
) -> None:
    """Invariants 3, 5 and 7: the first request decides, and the other is refused."""
    for _ in range(10):
        task = await wms.add_task(make_task(), jobs=3)
        pilot = await wms.add_pilot()
        jobs = await wms.lease(pilot, 3)
        outcome = await asyncio.gather(
            wms.finish(pilot, *jobs),
            cancel_task(other_wms.context, task.uid),
            return_exceptions=True,
        )
        status, sent = await wms.status(task), await wms.sent_messages()
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


async def test_held_jobs_do_not_block_a_task_that_has_reached_its_minimum(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(boundary=Boundary(minimum=0.5, sufficient=1.0)), jobs=2)
    pilot = await wms.add_pilot()
    for _ in range(5):
        (job,) = [job for job in await wms.lease(pilot, 1) if job.seq == 0]
        await wms.backdate_leases(job)
        await wms.expire_leases()
    assert (await wms.status(task)).quarantined == 1
    await wms.finish(pilot, *await wms.lease(pilot))
    status = await wms.status(task)
    assert (status.state, status.finished, status.canceled) == (TaskState.FINISHED, 1, 1)


async def test_rank_set_by_an_operator_takes_effect_at_once(wms: WmsFixture) -> None:
    await wms.add_task(make_task(rank=5), jobs=1)
    late = await wms.add_task(make_task(), jobs=1)
    assert (await prioritise_task(wms.context, late.uid, 9)).rank == 9
    pilot = await wms.add_pilot()
    assert [job.task_uid for job in await wms.lease(pilot)] == [late.uid]
