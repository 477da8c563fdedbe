"""A pilot that asks is told whether a job has ended, so that it can delete checkpoints."""

from uuid import UUID

from sluice.contracts.common.states import AttemptOutcome, ErrorClass, ReportAnswer, TaskState
from sluice.contracts.pilots.pilots import AttemptReport
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.stage import Stage, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.usecases.reports.report_attempts import report_attempts
from wms.usecases.tasks.cancel_task import cancel_task

FAILED = AttemptOutcome.FAILED


async def report_answers(
    stage: Stage, pilot: UUID, *reports: AttemptReport
) -> list[tuple[str, bool]]:
    answers = await report_attempts(stage.context, pilot, reports)
    return [(answer.answer.value, answer.ended) for answer in answers]


def report_with_checkpoint(stage: Stage, job: ClaimedJob, outcome: AttemptOutcome) -> AttemptReport:
    return stage.report_of(job, outcome, checkpoint=True)


async def start_job(stage: Stage, *, attempts: int = 1) -> tuple[UUID, ClaimedJob]:
    task = make_task(boundary=Boundary(minimum=0), retry=attempts)
    await stage.add_task(task, jobs=2)
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    await stage.beat(pilot, running=[job])
    return pilot, job


async def test_finished_job_has_ended(stage: Stage) -> None:
    pilot, job = await start_job(stage)
    report = report_with_checkpoint(stage, job, AttemptOutcome.FINISHED)
    assert await report_answers(stage, pilot, report) == [(ReportAnswer.ACCEPTED, True)]
    assert await report_answers(stage, pilot, report) == [(ReportAnswer.ALREADY, True)]


async def test_job_has_ended_only_after_its_last_attempt(
    stage: Stage,
) -> None:
    pilot, job = await start_job(stage, attempts=2)
    assert await report_answers(stage, pilot, report_with_checkpoint(stage, job, FAILED)) == [
        ("accepted", False)
    ]
    again = next(one for one in await stage.lease(pilot, 2) if one.id == job.id)
    assert again.attempt == 2
    # The first report comes again after the second attempt has begun.
    assert await report_answers(stage, pilot, report_with_checkpoint(stage, job, FAILED)) == [
        ("already", False)
    ]
    assert await report_answers(stage, pilot, report_with_checkpoint(stage, again, FAILED)) == [
        ("accepted", True)
    ]


async def test_late_report_is_answered_with_the_state_of_the_job(stage: Stage) -> None:
    pilot, old = await start_job(stage)
    await stage.overdue(old)
    await stage.expire()
    other = await stage.add_pilot(name="other")
    new = next(one for one in await stage.lease(other, 2) if one.id == old.id)
    late = report_with_checkpoint(stage, old, AttemptOutcome.FINISHED)
    assert await report_answers(stage, pilot, late) == [("stale", False)]
    await stage.finish(other, new)
    assert await report_answers(stage, pilot, late) == [("stale", True)]


async def test_canceled_job_has_ended(stage: Stage) -> None:
    pilot, job = await start_job(stage)
    status = await cancel_task(stage.context, job.task_uid)
    assert status.state is TaskState.CANCELED
    report = stage.report_of(
        job, AttemptOutcome.CANCELED, error=ErrorClass.CANCELED, checkpoint=True
    )
    ((_, ended),) = await report_answers(stage, pilot, report)
    assert ended
