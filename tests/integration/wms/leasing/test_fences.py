"""Only the pilot with the latest attempt renews, returns and reports it (invariants 3 and 6)."""

from datetime import timedelta
from uuid import UUID

from sluice.contracts.common.states import (
    AttemptOutcome,
    ErrorClass,
    InputMode,
    JobState,
    PilotState,
    ReportAnswer,
    TaskState,
)
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.jobs.tasks import Attempt, TaskInput
from sluice.contracts.pilots.pilots import HeartbeatAnswer, JobToken, RegisterPilot
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.stage import NOW, Stage, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.usecases.pilots.drain_pilot import drain_pilot
from wms.usecases.pilots.list_pilots import list_pilots
from wms.usecases.pilots.lose_pilots import lose_pilots
from wms.usecases.pilots.register_pilot import register_pilot
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.tasks.read_tasks import read_job

MINUTE = Resources(time_limit=60.0)


def commands(answer: HeartbeatAnswer) -> list[tuple[str, int]]:
    return [(command.kind, command.job.attempt) for command in answer.commands]


async def first_attempt(stage: Stage, job: ClaimedJob) -> Attempt:
    return (await read_job(stage.context, job.id)).attempts[0]


async def test_pilot_cannot_renew_or_return_the_job_of_another_pilot(stage: Stage) -> None:
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


async def test_earlier_attempt_of_the_same_pilot_does_not_renew_the_lease(
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


async def test_job_named_as_running_and_waiting_counts_as_running(stage: Stage) -> None:
    task = await stage.add_task(make_task(), jobs=1)
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    assert (await stage.beat(pilot, running=[job], waiting=[job])).commands == []
    assert await stage.states(task) == {JobState.RUNNING: 1}


async def test_same_report_by_another_pilot_is_stale(stage: Stage) -> None:
    """Invariant 3: the outputs of the other pilot are not in the catalogue."""
    await stage.add_task(make_task(), jobs=2)
    pilot, other = await stage.add_pilot(), await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    assert await stage.finish(pilot, job) == [ReportAnswer.ACCEPTED]
    assert await stage.finish(other, job) == [ReportAnswer.STALE]


async def test_first_of_two_reports_on_an_attempt_counts(stage: Stage) -> None:
    task = await stage.add_task(make_task(retry=1, boundary=Boundary(minimum=0.0)), jobs=3)
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    await stage.report(pilot, stage.report_of(job), stage.report_of(job, AttemptOutcome.FAILED))
    status = await stage.status(task)
    assert (status.finished, status.failed) == (1, 0)


async def test_inconsistent_fields_of_a_report_are_corrected(stage: Stage) -> None:
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
    assert first.started_at <= first.ended_at, "the attempt ends before it starts"
    assert (await first_attempt(stage, bad)).error_class is ErrorClass.INTERNAL


async def test_next_attempt_has_the_full_time_and_no_cancellation(stage: Stage) -> None:
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


async def test_time_limit_counts_from_the_start_of_the_job(stage: Stage) -> None:
    await stage.add_task(make_task(resources=MINUTE), jobs=1)
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    await stage.age(job, seconds=290)
    await stage.beat(pilot, running=[job])
    await stage.age(job, seconds=410)
    assert commands(await stage.beat(pilot, running=[job])) == []


async def test_deadline_includes_the_time_for_shared_inputs(stage: Stage) -> None:
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


async def test_signed_off_pilot_stays_gone_and_takes_jobs_after_a_new_registration(
    stage: Stage,
) -> None:
    pilot = await stage.add_pilot()
    await drain_pilot(stage.context, pilot)
    await sign_off_pilot(stage.context, pilot, [])
    await drain_pilot(stage.context, pilot)
    assert await state_of(stage) is PilotState.GONE
    assert (await stage.beat(pilot)).drain
    [listed_pilot] = (await list_pilots(stage.context)).pilots
    again = listed_pilot.model_dump(include={"uid", "name", "host", "slots", "resources"}) | {
        "version": "1"
    }
    await register_pilot(stage.context, RegisterPilot(**again))
    await stage.execute("UPDATE pilots SET seen_at = now() - interval '1 day'")
    await lose_pilots(stage.context)
    assert not (await stage.beat(pilot)).drain
    task = await stage.add_task(make_task(), jobs=1)
    await stage.finish(pilot, *await stage.lease(pilot))
    assert (await stage.status(task)).state is TaskState.FINISHED
