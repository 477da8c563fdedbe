"""Who asks is told whether a job has ended: then what was kept for its next attempt goes."""

from uuid import UUID

import pytest

from sluice.contracts.pilots import AttemptReport
from sluice.contracts.plan import Boundary
from sluice.contracts.states import AttemptOutcome, ErrorClass, ReportAnswer, TaskState
from tests.integration.wms.stage import Stage, make_task
from wms.db.leases import ClaimedJob
from wms.usecases.cancel_task import cancel_task
from wms.usecases.report_attempts import report_attempts

FAILED = AttemptOutcome.FAILED


async def answered(stage: Stage, pilot: UUID, *reports: AttemptReport) -> list[tuple[str, bool]]:
    answers = await report_attempts(stage.context, pilot, reports)
    return [(answer.answer.value, answer.ended) for answer in answers]


def asking(stage: Stage, job: ClaimedJob, outcome: AttemptOutcome) -> AttemptReport:
    return stage.report_of(job, outcome, checkpoint=True)


async def begun(stage: Stage, *, attempts: int = 1) -> tuple[UUID, ClaimedJob]:
    task = make_task(boundary=Boundary(minimum=0), retry=attempts)
    await stage.add_task(task, jobs=2)
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    await stage.beat(pilot, running=[job])
    return pilot, job


async def test_a_job_that_has_finished_has_ended(stage: Stage) -> None:
    pilot, job = await begun(stage)
    report = asking(stage, job, AttemptOutcome.FINISHED)
    assert await answered(stage, pilot, report) == [(ReportAnswer.ACCEPTED, True)]
    assert await answered(stage, pilot, report) == [(ReportAnswer.ALREADY, True)]


async def test_one_that_is_tried_again_has_not_and_one_whose_attempts_are_used_up_has(
    stage: Stage,
) -> None:
    pilot, job = await begun(stage, attempts=2)
    assert await answered(stage, pilot, asking(stage, job, FAILED)) == [("accepted", False)]
    again = next(one for one in await stage.lease(pilot, 2) if one.id == job.id)
    assert again.attempt == 2
    # The first comes once more, when the second has begun.
    assert await answered(stage, pilot, asking(stage, job, FAILED)) == [("already", False)]
    assert await answered(stage, pilot, asking(stage, again, FAILED)) == [("accepted", True)]


async def test_an_attempt_that_comes_late_is_told_of_the_job_not_of_itself(stage: Stage) -> None:
    pilot, old = await begun(stage)
    await stage.overdue(old)
    await stage.expire()
    other = await stage.add_pilot(name="other")
    new = next(one for one in await stage.lease(other, 2) if one.id == old.id)
    late = asking(stage, old, AttemptOutcome.FINISHED)
    assert await answered(stage, pilot, late) == [("stale", False)]
    await stage.finish(other, new)
    assert await answered(stage, pilot, late) == [("stale", True)]


async def test_a_canceled_one_has_ended(stage: Stage) -> None:
    pilot, job = await begun(stage)
    status = await cancel_task(stage.context, job.task_uid)
    assert status.state is TaskState.CANCELED
    report = stage.report_of(
        job, AttemptOutcome.CANCELED, error=ErrorClass.CANCELED, checkpoint=True
    )
    ((_, ended),) = await answered(stage, pilot, report)
    assert ended


@pytest.mark.parametrize("outcome", [AttemptOutcome.FINISHED, FAILED])
async def test_who_does_not_ask_is_not_told(stage: Stage, outcome: AttemptOutcome) -> None:
    """A pilot of the release before would not understand it."""
    pilot, job = await begun(stage)
    (answer,) = await report_attempts(stage.context, pilot, [stage.report_of(job, outcome)])
    assert set(answer.model_dump(mode="json")) == {"id", "attempt", "answer"}
