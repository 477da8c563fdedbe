"""A pilot that asks is told whether a job has ended, so that it can delete checkpoints."""

from uuid import UUID

from sluice.contracts.common.states import AttemptOutcome, ErrorClass, ReportAnswer, TaskState
from sluice.contracts.pilots.reports import AttemptReport
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.usecases.reports.report_attempts import report_attempts
from wms.usecases.tasks.cancel_task import cancel_task

FAILED = AttemptOutcome.FAILED


async def send_reports(
    wms: WmsFixture, pilot: UUID, *reports: AttemptReport
) -> list[tuple[str, bool]]:
    answers = await report_attempts(wms.context, pilot, reports)
    return [(answer.answer.value, answer.ended) for answer in answers]


def report_with_checkpoint(
    wms: WmsFixture, job: ClaimedJob, outcome: AttemptOutcome
) -> AttemptReport:
    return wms.make_report(job, outcome, checkpoint=True)


async def start_job(wms: WmsFixture, *, attempts: int = 1) -> tuple[UUID, ClaimedJob]:
    task = make_task(boundary=Boundary(minimum=0), retry=attempts)
    await wms.add_task(task, jobs=2)
    pilot = await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    await wms.send_heartbeat(pilot, running=[job])
    return pilot, job


async def test_finished_job_has_ended(wms: WmsFixture) -> None:
    pilot, job = await start_job(wms)
    report = report_with_checkpoint(wms, job, AttemptOutcome.FINISHED)
    assert await send_reports(wms, pilot, report) == [(ReportAnswer.ACCEPTED, True)]
    assert await send_reports(wms, pilot, report) == [(ReportAnswer.ALREADY, True)]


async def test_job_has_ended_only_after_its_last_attempt(
    wms: WmsFixture,
) -> None:
    pilot, job = await start_job(wms, attempts=2)
    assert await send_reports(wms, pilot, report_with_checkpoint(wms, job, FAILED)) == [
        ("accepted", False)
    ]
    second_job = next(one for one in await wms.lease(pilot, 2) if one.id == job.id)
    assert second_job.attempt == 2
    # The first report comes again after the second attempt has begun.
    assert await send_reports(wms, pilot, report_with_checkpoint(wms, job, FAILED)) == [
        ("already", False)
    ]
    assert await send_reports(wms, pilot, report_with_checkpoint(wms, second_job, FAILED)) == [
        ("accepted", True)
    ]


async def test_late_report_is_answered_with_the_state_of_the_job(wms: WmsFixture) -> None:
    pilot, old = await start_job(wms)
    await wms.backdate_leases(old)
    await wms.expire_leases()
    other = await wms.add_pilot(name="other")
    new = next(one for one in await wms.lease(other, 2) if one.id == old.id)
    late = report_with_checkpoint(wms, old, AttemptOutcome.FINISHED)
    assert await send_reports(wms, pilot, late) == [("stale", False)]
    await wms.finish(other, new)
    assert await send_reports(wms, pilot, late) == [("stale", True)]


async def test_canceled_job_has_ended(wms: WmsFixture) -> None:
    pilot, job = await start_job(wms)
    status = await cancel_task(wms.context, job.task_uid)
    assert status.state is TaskState.CANCELED
    report = wms.make_report(
        job, AttemptOutcome.CANCELED, error=ErrorClass.CANCELED, checkpoint=True
    )
    ((_, ended),) = await send_reports(wms, pilot, report)
    assert ended
