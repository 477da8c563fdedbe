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
from sluice.contracts.pilots.heartbeats import HeartbeatAnswer
from sluice.contracts.pilots.leases import JobToken
from sluice.contracts.pilots.registration import RegisterPilot
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.wms_fixture import NOW, WmsFixture, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.usecases.pilots.drain_pilot import drain_pilot
from wms.usecases.pilots.list_pilots import list_pilots
from wms.usecases.pilots.lose_pilots import lose_pilots
from wms.usecases.pilots.register_pilot import register_pilot
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.tasks.get_job import get_job

MINUTE = Resources(time_limit=60.0)


def list_commands(answer: HeartbeatAnswer) -> list[tuple[str, int]]:
    return [(command.kind, command.job.attempt) for command in answer.commands]


async def get_first_attempt(wms: WmsFixture, job: ClaimedJob) -> Attempt:
    return (await get_job(wms.context, job.id)).attempts[0]


async def test_pilot_cannot_renew_or_return_the_job_of_another_pilot(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(), jobs=1)
    pilot, other = await wms.add_pilot(), await wms.add_pilot(name="other")
    (job,) = await wms.lease(pilot)
    assert list_commands(await wms.send_heartbeat(other, running=[job])) == [("abandon", 1)]
    await sign_off_pilot(wms.context, other, [JobToken(id=job.id, attempt=1)])
    assert (await wms.status(task)).leased == 1
    await wms.backdate_leases(job)
    await wms.send_heartbeat(other, waiting=[job])
    await wms.expire_leases()
    assert (await wms.status(task)).ready == 1


async def test_earlier_attempt_of_the_same_pilot_does_not_renew_the_lease(
    wms: WmsFixture,
) -> None:
    task = await wms.add_task(make_task(), jobs=1)
    pilot = await wms.add_pilot()
    (old,) = await wms.lease(pilot)
    await wms.backdate_leases(old)
    await wms.expire_leases()
    (new,) = await wms.lease(pilot)
    await wms.backdate_leases(new)
    assert list_commands(await wms.send_heartbeat(pilot, running=[old])) == [("abandon", 1)]
    await wms.expire_leases()
    assert (await wms.status(task)).ready == 1


async def test_job_named_as_running_and_waiting_counts_as_running(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(), jobs=1)
    pilot = await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    assert (await wms.send_heartbeat(pilot, running=[job], waiting=[job])).commands == []
    assert await wms.states(task) == {JobState.RUNNING: 1}


async def test_same_report_by_another_pilot_is_stale(wms: WmsFixture) -> None:
    """Invariant 3: the outputs of the other pilot are not in the catalogue."""
    await wms.add_task(make_task(), jobs=2)
    pilot, other = await wms.add_pilot(), await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    assert await wms.finish(pilot, job) == [ReportAnswer.ACCEPTED]
    assert await wms.finish(other, job) == [ReportAnswer.STALE]


async def test_first_of_two_reports_on_an_attempt_counts(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(retry=1, boundary=Boundary(minimum=0.0)), jobs=3)
    pilot = await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    await wms.report(pilot, wms.make_report(job), wms.make_report(job, AttemptOutcome.FAILED))
    status = await wms.status(task)
    assert (status.finished, status.failed) == (1, 0)


async def test_inconsistent_fields_of_a_report_are_corrected(wms: WmsFixture) -> None:
    await wms.add_task(make_task(retry=1, boundary=Boundary(minimum=0.0)), jobs=3)
    pilot = await wms.add_pilot()
    good, bad, _ = await wms.lease(pilot, 3)
    fine = wms.make_report(good, error=ErrorClass.TOOL_FAILED, started_at=NOW + timedelta(hours=1))
    assert (
        await wms.report(pilot, fine, wms.make_report(bad, AttemptOutcome.FAILED, error_class=None))
        == [ReportAnswer.ACCEPTED] * 2
    )
    first = await get_first_attempt(wms, good)
    assert (first.outcome, first.error_class) == (AttemptOutcome.FINISHED, None)
    assert first.started_at is not None
    assert first.ended_at is not None
    assert first.started_at <= first.ended_at, "the attempt ends before it starts"
    assert (await get_first_attempt(wms, bad)).error_class is ErrorClass.INTERNAL


async def test_next_attempt_has_the_full_time_and_no_cancellation(wms: WmsFixture) -> None:
    await wms.add_task(make_task(resources=MINUTE), jobs=1)
    pilot, other = await wms.add_pilot(), await wms.add_pilot(name="other")
    (job,) = await wms.lease(pilot)
    await wms.send_heartbeat(pilot, running=[job])
    await wms.backdate_start(job, seconds=500)
    assert list_commands(await wms.send_heartbeat(pilot, running=[job])) == [("cancel", 1)]
    await wms.backdate_leases(job)
    await wms.expire_leases()
    (retried_job,) = await wms.lease(other)
    assert list_commands(await wms.send_heartbeat(other, waiting=[retried_job])) == []
    canceled = wms.make_report(
        retried_job, AttemptOutcome.CANCELED, error=ErrorClass.CANCELED, message="canceled"
    )
    await wms.report(other, canceled)
    second = (await get_job(wms.context, job.id)).attempts[1]
    assert (second.outcome, second.message) == (AttemptOutcome.CANCELED, "canceled")


async def test_time_limit_counts_from_the_start_of_the_job(wms: WmsFixture) -> None:
    await wms.add_task(make_task(resources=MINUTE), jobs=1)
    pilot = await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    await wms.backdate_start(job, seconds=290)
    await wms.send_heartbeat(pilot, running=[job])
    await wms.backdate_start(job, seconds=410)
    assert list_commands(await wms.send_heartbeat(pilot, running=[job])) == []


async def test_deadline_includes_the_time_for_shared_inputs(wms: WmsFixture) -> None:
    shared = TaskInput(port="all", dat_in_uid=UUID(int=7), mode=InputMode.ALL)
    task = await wms.add_task(make_task(resources=MINUTE, side_inputs=[shared]), jobs=1)
    await wms.execute(
        """UPDATE tasks SET shared_inputs = '[{"size": 1000000000}]' WHERE uid = $1""", task.uid
    )
    pilot = await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    await wms.send_heartbeat(pilot, running=[job])
    await wms.backdate_start(job, seconds=1000)
    assert list_commands(await wms.send_heartbeat(pilot, running=[job])) == []


async def get_pilot_state(wms: WmsFixture) -> PilotState:
    [pilot] = (await list_pilots(wms.context)).pilots
    return pilot.state


async def test_signed_off_pilot_stays_gone_and_takes_jobs_after_a_new_registration(
    wms: WmsFixture,
) -> None:
    pilot = await wms.add_pilot()
    await drain_pilot(wms.context, pilot)
    await sign_off_pilot(wms.context, pilot, [])
    await drain_pilot(wms.context, pilot)
    assert await get_pilot_state(wms) is PilotState.GONE
    assert (await wms.send_heartbeat(pilot)).drain
    [listed_pilot] = (await list_pilots(wms.context)).pilots
    registration = listed_pilot.model_dump(
        include={"uid", "name", "host", "slots", "resources"}
    ) | {"version": "1"}
    await register_pilot(wms.context, RegisterPilot(**registration))
    await wms.execute("UPDATE pilots SET seen_at = now() - interval '1 day'")
    await lose_pilots(wms.context)
    assert not (await wms.send_heartbeat(pilot)).drain
    task = await wms.add_task(make_task(), jobs=1)
    await wms.finish(pilot, *await wms.lease(pilot))
    assert (await wms.status(task)).state is TaskState.FINISHED
