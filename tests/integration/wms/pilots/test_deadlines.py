"""A job is taken from a pilot that renews the lease beyond the job's time limit."""

from uuid import UUID

import pytest

from sluice.contracts.common.states import (
    AttemptOutcome,
    AttemptPhase,
    ErrorClass,
    ReportAnswer,
    TaskState,
)
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.heartbeats import HeartbeatAnswer
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.usecases.tasks.get_job import get_job

MINUTE = Resources(time_limit=60.0)


def list_commands(answer: HeartbeatAnswer) -> list[tuple[str, int]]:
    return [(command.kind, command.job.id) for command in answer.commands]


async def start_job(wms: WmsFixture, pilot: UUID, task: Task) -> ClaimedJob:
    await wms.add_task(task, jobs=1)
    (job,) = await wms.lease(pilot)
    assert list_commands(await wms.send_heartbeat(pilot, running=[job])) == []
    return job


async def test_overdue_job_is_canceled_and_its_lease_is_renewed_no_more(wms: WmsFixture) -> None:
    """Invariant 6: the job is leased again only after its lease has ended."""
    pilot, other = await wms.add_pilot(), await wms.add_pilot(name="other")
    job = await start_job(wms, pilot, make_task(resources=MINUTE, retry=1))
    await wms.backdate_start(job, seconds=400)
    assert (
        list_commands(await wms.send_heartbeat(pilot, running=[job], phase=AttemptPhase.RUN)) == []
    )
    await wms.backdate_start(job, seconds=100)
    for _ in range(2):
        assert list_commands(
            await wms.send_heartbeat(pilot, running=[job], phase=AttemptPhase.STAGE_OUT)
        ) == [("cancel", job.id)]
    await wms.expire_leases()
    assert await wms.lease(other) == []
    await wms.backdate_leases(job)
    assert list_commands(await wms.send_heartbeat(pilot, running=[job])) == [("cancel", job.id)]
    await wms.expire_leases()
    (second_job,) = await wms.lease(other)
    assert (second_job.id, second_job.attempt) == (job.id, 2)
    assert list_commands(await wms.send_heartbeat(pilot, running=[job])) == [("abandon", job.id)]
    assert list_commands(await wms.send_heartbeat(other, running=[second_job])) == []
    first = (await get_job(wms.context, job.id)).attempts[0]
    assert (first.outcome, first.error_class) == (AttemptOutcome.LOST, ErrorClass.PILOT_LOST)
    assert first.message.startswith(
        f"pilot {pilot} kept it for 500 s, beyond its time limit of 60 s, 60 s for its files"
    )
    assert first.message.endswith("300 s of grace; it was storing its outputs")


async def test_overdue_job_is_ready_at_once_after_its_cancellation(wms: WmsFixture) -> None:
    """The attempt counts as lost with the pilot, so the job does not fail."""
    pilot = await wms.add_pilot()
    task = make_task(resources=MINUTE, retry=1)
    job = await start_job(wms, pilot, task)
    await wms.backdate_start(job, seconds=500)
    await wms.send_heartbeat(pilot, running=[job])
    report = wms.make_report(
        job, AttemptOutcome.CANCELED, error=ErrorClass.CANCELED, message="canceled"
    )
    assert await wms.report(pilot, report) == [ReportAnswer.ACCEPTED]
    assert await wms.report(pilot, report) == [ReportAnswer.ALREADY]
    status = await wms.status(task)
    assert (status.state, status.ready, status.failed_attempts) == (TaskState.ACTIVE, 1, 1)
    first = (await get_job(wms.context, job.id)).attempts[0]
    assert (first.outcome, first.error_class) == (AttemptOutcome.LOST, ErrorClass.PILOT_LOST)
    assert "beyond its time limit of 60 s" in first.message


async def test_overdue_job_that_finishes_before_its_cancellation_counts(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot()
    task = make_task(resources=MINUTE)
    job = await start_job(wms, pilot, task)
    await wms.backdate_start(job, seconds=500)
    await wms.send_heartbeat(pilot, running=[job])
    assert await wms.finish(pilot, job) == [ReportAnswer.ACCEPTED]
    assert (await wms.status(task)).state is TaskState.FINISHED


async def test_deadline_includes_the_time_for_files(wms: WmsFixture) -> None:
    """The time for outputs counts as soon as the pilot reports that it stores them."""
    pilot = await wms.add_pilot()
    job = await start_job(wms, pilot, make_task(resources=MINUTE))
    await wms.backdate_start(job, seconds=500)
    assert (
        list_commands(
            await wms.send_heartbeat(
                pilot, running=[job], phase=AttemptPhase.STAGE_OUT, bytes=10**9
            )
        )
        == []
    )
    await wms.execute("UPDATE jobs SET inputs = jsonb_set(inputs, '{0,size}', '1000000000')")
    assert list_commands(await wms.send_heartbeat(pilot, running=[job])) == []
    await wms.execute("UPDATE jobs SET inputs = jsonb_set(inputs, '{0,size}', '10000000')")
    assert list_commands(await wms.send_heartbeat(pilot, running=[job])) == [("cancel", job.id)]


@pytest.mark.parametrize("limit", [0.0, 3600.0])
async def test_job_that_is_never_started_is_canceled(wms: WmsFixture, limit: float) -> None:
    pilot = await wms.add_pilot()
    await wms.add_task(make_task(resources=Resources(time_limit=limit)), jobs=1)
    (job,) = await wms.lease(pilot)
    await wms.backdate_start(job, seconds=299)
    assert list_commands(await wms.send_heartbeat(pilot, waiting=[job])) == []
    await wms.backdate_start(job, seconds=2)
    assert list_commands(await wms.send_heartbeat(pilot, waiting=[job])) == [("cancel", job.id)]


async def test_job_without_a_time_limit_runs_as_long_as_it_is_renewed(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot()
    job = await start_job(wms, pilot, make_task(resources=Resources(time_limit=0.0)))
    await wms.backdate_start(job, seconds=10**8)
    assert list_commands(await wms.send_heartbeat(pilot, running=[job])) == []
