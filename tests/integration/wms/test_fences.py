"""Whose a job is: neither another pilot nor an earlier attempt renews it, hands it back or reports
on it (invariants 3 and 6)."""

from datetime import timedelta
from uuid import UUID

from sluice.contracts.needs import Resources
from sluice.contracts.pilots import HeartbeatAnswer, JobToken, RegisterPilot
from sluice.contracts.plan import Boundary
from sluice.contracts.states import (
    AttemptOutcome,
    ErrorClass,
    InputMode,
    JobState,
    PilotState,
    ReportAnswer,
    TaskState,
)
from sluice.contracts.tasks import Attempt, TaskInput
from tests.integration.wms.stage import NOW, Stage, make_task
from wms.db.leases import ClaimedJob
from wms.usecases.drain_pilot import drain_pilot
from wms.usecases.list_pilots import list_pilots
from wms.usecases.lose_pilots import lose_pilots
from wms.usecases.read_tasks import read_job
from wms.usecases.register_pilot import register_pilot
from wms.usecases.sign_off_pilot import sign_off_pilot

MINUTE = Resources(time_limit=60.0)


def commands(answer: HeartbeatAnswer) -> list[tuple[str, int]]:
    return [(command.kind, command.job.attempt) for command in answer.commands]


async def first_attempt(stage: Stage, job: ClaimedJob) -> Attempt:
    return (await read_job(stage.context, job.id)).attempts[0]


async def test_nobody_renews_or_hands_back_what_another_pilot_has(stage: Stage) -> None:
    task = await stage.add_task(make_task(), jobs=1)
    pilot, other = await stage.add_pilot(), await stage.add_pilot(name="other")
    (job,) = await stage.lease(pilot)
    assert commands(await stage.beat(other, running=[job])) == [("abandon", 1)]
    await sign_off_pilot(stage.context, other, [JobToken(id=job.id, attempt=1)])
    assert (await stage.status(task)).leased == 1
    await stage.overdue(job)
    await stage.beat(other, waiting=[job])
    await stage.expire()
    assert (await stage.status(task)).ready == 1


async def test_a_pilot_that_has_the_job_again_does_not_renew_it_by_the_attempt_before(
    stage: Stage,
) -> None:
    task = await stage.add_task(make_task(), jobs=1)
    pilot = await stage.add_pilot()
    (old,) = await stage.lease(pilot)
    await stage.overdue(old)
    await stage.expire()
    (new,) = await stage.lease(pilot)
    await stage.overdue(new)
    assert commands(await stage.beat(pilot, running=[old])) == [("abandon", 1)]
    await stage.expire()
    assert (await stage.status(task)).ready == 1


async def test_a_job_that_is_named_twice_has_begun(stage: Stage) -> None:
    task = await stage.add_task(make_task(), jobs=1)
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    assert (await stage.beat(pilot, running=[job], waiting=[job])).commands == []
    assert await stage.states(task) == {JobState.RUNNING: 1}


async def test_who_says_what_the_winner_said_is_told_that_it_came_late(stage: Stage) -> None:
    """Invariant 3: what it wrote is not in the catalogue."""
    await stage.add_task(make_task(), jobs=2)
    pilot, other = await stage.add_pilot(), await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    assert await stage.finish(pilot, job) == [ReportAnswer.ACCEPTED]
    assert await stage.finish(other, job) == [ReportAnswer.STALE]


async def test_of_two_reports_on_one_attempt_the_first_counts(stage: Stage) -> None:
    task = await stage.add_task(make_task(retry=1, boundary=Boundary(minimum=0.0)), jobs=3)
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    await stage.report(pilot, stage.report_of(job), stage.report_of(job, AttemptOutcome.FAILED))
    status = await stage.status(task)
    assert (status.finished, status.failed) == (1, 0)


async def test_what_a_report_leaves_out_or_says_too_much_is_put_right(stage: Stage) -> None:
    await stage.add_task(make_task(retry=1, boundary=Boundary(minimum=0.0)), jobs=3)
    pilot = await stage.add_pilot()
    good, bad, _ = await stage.lease(pilot, 3)
    fine = stage.report_of(good, error=ErrorClass.TOOL_FAILED, started_at=NOW + timedelta(hours=1))
    assert (
        await stage.report(
            pilot, fine, stage.report_of(bad, AttemptOutcome.FAILED, error_class=None)
        )
        == [ReportAnswer.ACCEPTED] * 2
    )
    first = await first_attempt(stage, good)
    assert (first.outcome, first.error_class) == (AttemptOutcome.FINISHED, None)
    assert first.started_at is not None
    assert first.ended_at is not None
    assert first.started_at <= first.ended_at, "whatever the pilot's clock says"
    assert (await first_attempt(stage, bad)).error_class is ErrorClass.INTERNAL


async def test_the_next_attempt_has_the_whole_time_and_no_reason_to_stop(stage: Stage) -> None:
    await stage.add_task(make_task(resources=MINUTE), jobs=1)
    pilot, other = await stage.add_pilot(), await stage.add_pilot(name="other")
    (job,) = await stage.lease(pilot)
    await stage.beat(pilot, running=[job])
    await stage.age(job, seconds=500)
    assert commands(await stage.beat(pilot, running=[job])) == [("cancel", 1)]
    await stage.overdue(job)
    await stage.expire()
    (again,) = await stage.lease(other)
    assert commands(await stage.beat(other, waiting=[again])) == []
    canceled = stage.report_of(
        again, AttemptOutcome.CANCELED, error=ErrorClass.CANCELED, message="canceled"
    )
    await stage.report(other, canceled)
    second = (await read_job(stage.context, job.id)).attempts[1]
    assert (second.outcome, second.message) == (AttemptOutcome.CANCELED, "canceled")


async def test_the_time_counts_from_when_the_job_was_started(stage: Stage) -> None:
    await stage.add_task(make_task(resources=MINUTE), jobs=1)
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    await stage.age(job, seconds=290)
    await stage.beat(pilot, running=[job])
    await stage.age(job, seconds=410)
    assert commands(await stage.beat(pilot, running=[job])) == []


async def test_what_all_jobs_of_a_task_read_has_its_time_too(stage: Stage) -> None:
    shared = TaskInput(port="all", dat_in_uid=UUID(int=7), mode=InputMode.ALL)
    task = await stage.add_task(make_task(resources=MINUTE, side_inputs=[shared]), jobs=1)
    await stage.execute(
        """UPDATE tasks SET shared_inputs = '[{"size": 1000000000}]' WHERE uid = $1""", task.uid
    )
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    await stage.beat(pilot, running=[job])
    await stage.age(job, seconds=1000)
    assert commands(await stage.beat(pilot, running=[job])) == []


async def state_of(stage: Stage) -> PilotState:
    [pilot] = (await list_pilots(stage.context)).pilots
    return pilot.state


async def test_a_pilot_that_is_gone_stays_away_and_one_that_starts_again_takes_jobs(
    stage: Stage,
) -> None:
    pilot = await stage.add_pilot()
    await drain_pilot(stage.context, pilot)
    await sign_off_pilot(stage.context, pilot, [])
    await drain_pilot(stage.context, pilot)
    assert await state_of(stage) is PilotState.GONE
    assert (await stage.beat(pilot)).drain
    [told] = (await list_pilots(stage.context)).pilots
    again = told.model_dump(include={"uid", "name", "host", "slots", "resources"}) | {
        "version": "1"
    }
    await register_pilot(stage.context, RegisterPilot(**again))
    await stage.execute("UPDATE pilots SET seen_at = now() - interval '1 day'")
    await lose_pilots(stage.context)
    assert not (await stage.beat(pilot)).drain
    task = await stage.add_task(make_task(), jobs=1)
    await stage.finish(pilot, *await stage.lease(pilot))
    assert (await stage.status(task)).state is TaskState.FINISHED
