"""Jobs fail, are lost, returned, held, and tried again."""

import asyncio

import pytest

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import (
    AttemptOutcome,
    DeviceType,
    ErrorClass,
    JobState,
    PilotState,
    ReportAnswer,
    TaskState,
)
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.pilots.pilots import AttemptReport, JobToken
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from tests.unit.gpus import gpu
from tests.waiting import eventually
from wms.db.jobs.leases import ClaimedJob
from wms.db.tasks.tasks import lock_tasks
from wms.usecases.leasing.explain_job import explain_job
from wms.usecases.pilots.drain_pilot import drain_pilot
from wms.usecases.pilots.list_pilots import list_pilots
from wms.usecases.pilots.lose_pilots import lose_pilots
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.reports.retry_job import retry_job
from wms.usecases.reports.retry_task import retry_task

LENIENT = Boundary(minimum=0.0, sufficient=1.0)


async def test_job_that_failed_on_a_pilot_goes_to_other_pilots_first(wms: WmsFixture) -> None:
    """A pilot whose jobs fail fast does not use up all attempts of a job."""
    task = await wms.add_task(make_task(retry=5), jobs=1)
    pilot = await wms.add_pilot()
    await wms.fail(pilot, *await wms.lease(pilot))
    await wms.fail(pilot, *await wms.lease(pilot))
    assert (await wms.status(task)).failed_attempts == 2, "the only pilot got no second attempt"
    other = await wms.add_pilot(name="other")
    assert await wms.lease(pilot) == []
    (third,) = await wms.lease(other)
    await wms.fail(other, third)
    await wms.execute("UPDATE jobs SET not_before = now() - interval '1 minute'")
    assert len(await wms.lease(pilot)) == 1, "the pilot got no job although no other pilot took it"


async def test_failed_job_is_tried_again_up_to_retry(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(retry=3), jobs=1)
    pilot = await wms.add_pilot()
    for attempt in (1, 2, 3):
        (job,) = await wms.lease(pilot)
        assert job.attempt == attempt
        await wms.fail(pilot, job)
    status = await wms.status(task)
    assert (status.state, status.failed, status.failed_attempts) == (TaskState.FAILED, 1, 3)
    assert "1 of 1 job failed" in status.reason
    last = (
        f"job {job.id} (frame-0000.raw): tool_failed: exit code 1 (`sluice logs {job.id}`"
        " shows its log)"
    )
    assert last in status.reason, "the reason does not name the job and its log"
    sent = await wms.sent_messages()
    assert sent.close_at == {task.main_output.dat_out_uid: [0], task.log_out_uid: [3]}


async def test_lease_request_that_finds_no_job_keeps_the_start_time_of_the_task(
    wms: WmsFixture,
) -> None:
    task = await wms.add_task(make_task(retry=3), jobs=1)
    pilot = await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    began = (await wms.status(task)).started_at
    assert began is not None
    await wms.fail(pilot, job)
    await wms.execute("UPDATE jobs SET not_before = now() + interval '1 hour'")
    assert await wms.lease(pilot) == []
    assert (await wms.status(task)).started_at == began


async def test_job_with_a_refused_input_is_not_retried(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(retry=5, boundary=LENIENT), jobs=2)
    pilot = await wms.add_pilot()
    job, _ = await wms.lease(pilot, 2)
    await wms.fail(pilot, job, error=ErrorClass.TOOL_REFUSED)
    assert (await wms.status(task)).errors == {ErrorClass.TOOL_REFUSED: 1}
    assert await wms.lease(pilot) == []


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (ErrorClass.TOOL_TIMEOUT, -15, "tool_timeout: it took long"),
        (ErrorClass.TOOL_FAILED, 127, "tool_failed: it took long"),
        (
            ErrorClass.OUT_OF_MEMORY,
            -9,
            (
                "out_of_memory: it took long; not tried again: no node has the 18000 MiB of memory"
                " that another attempt would request (the largest node has 16000 MiB)"
            ),
        ),
    ],
)
async def test_job_that_would_fail_in_the_same_way_is_not_retried(
    wms: WmsFixture, error: ErrorClass, code: int, sentence: str
) -> None:
    pilot = await wms.add_pilot(ram=16_000)
    for also, tried_again in ([], False), (["tool_timeout", "no_program", "out_of_memory"], True):
        needs = Resources(ram=12_000)
        task = await wms.add_task(make_task(retry_also=also, resources=needs), jobs=1)
        (job,) = await wms.lease(pilot)
        report = wms.make_report(
            job,
            AttemptOutcome.FAILED,
            error=error,
            exit_code=code,
            message="it took long",
            peak_memory=12001.6,
        )
        assert await wms.report(pilot, report) == [ReportAnswer.ACCEPTED]
        status = await wms.status(task)
        assert (status.failed, status.ready) == (not tried_again, tried_again)
        assert sentence in status.reason or tried_again
        await wms.execute("UPDATE tasks SET rank = 0")


async def test_next_attempt_asks_for_more_memory_than_was_used(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(resources=Resources(ram=100)), jobs=1)
    pilot = await wms.add_pilot(ram=16_000)
    (job,) = await wms.lease(pilot)
    report = wms.make_report(
        job, AttemptOutcome.FAILED, error=ErrorClass.OUT_OF_MEMORY, peak_memory=1030.0
    )
    await wms.report(pilot, report)
    (retried_job,) = await wms.lease(pilot)
    assert (retried_job.attempt, retried_job.ram) == (2, 1545)
    assert (await wms.status(task)).failed_attempts == 1


async def test_job_is_not_leased_during_its_backoff(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(backoff=3600.0), jobs=2)
    pilot = await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    await wms.fail(pilot, job)
    assert [other.seq for other in await wms.lease(pilot, 5)] == [1]
    assert (await wms.status(task)).ready == 1
    await wms.execute("UPDATE jobs SET not_before = now() WHERE id = $1", job.id)
    assert [
        (retried_job.seq, retried_job.attempt) for retried_job in await wms.lease(pilot, 5)
    ] == [(0, 2)]


async def test_five_lost_pilots_in_a_row_hold_the_job_without_failing_it(
    wms: WmsFixture,
) -> None:
    task = await wms.add_task(make_task(retry=1), jobs=1)
    pilot = await wms.add_pilot()
    for _ in range(5):
        (job,) = await wms.lease(pilot)
        await wms.backdate_leases(job)
        await wms.expire_leases()
    assert (await wms.status(task)).quarantined == 1
    assert (await wms.status(task)).state is TaskState.ACTIVE
    assert await wms.lease(pilot) == []
    assert (await retry_task(wms.context, task.uid)).ready == 1
    (retried_job,) = await wms.lease(pilot)
    assert retried_job.attempt == 6
    await wms.finish(pilot, retried_job)
    assert (await wms.status(task)).state is TaskState.FINISHED


async def test_failure_between_losses_restarts_the_count_of_losses(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(retry=2), jobs=1)
    pilot = await wms.add_pilot()
    for number in range(9):
        (job,) = await wms.lease(pilot)
        if number == 4:
            await wms.fail(pilot, job)
        else:
            await wms.backdate_leases(job)
            await wms.expire_leases()
    assert (await wms.status(task)).ready == 1


async def test_renewed_lease_does_not_expire(wms: WmsFixture) -> None:
    """Invariant 6: the job is leased again only after its lease has ended."""
    task = await wms.add_task(make_task(), jobs=2)
    pilot = await wms.add_pilot()
    renewed_job, lost_job = await wms.lease(pilot, 2)
    await wms.backdate_leases(renewed_job, lost_job)
    answer = await wms.send_heartbeat(pilot, running=[renewed_job])
    assert answer.commands == []
    await wms.expire_leases()
    status = await wms.status(task)
    assert (status.running, status.ready) == (1, 1)
    answer = await wms.send_heartbeat(pilot, running=[renewed_job, lost_job])
    assert [(command.kind, command.job.id) for command in answer.commands] == [
        ("abandon", lost_job.id)
    ]


async def test_heartbeat_between_the_check_and_the_lock_saves_the_lease(
    wms: WmsFixture, other_wms: WmsFixture
) -> None:
    """Invariant 6: the end of the lease is checked again under the lock."""
    task = await wms.add_task(make_task(), jobs=1)
    pilot = await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    await wms.backdate_leases(job)
    async with other_wms.database.transaction() as transaction:
        await lock_tasks(transaction.connection, [task.uid])
        expiring = asyncio.create_task(wms.expire_leases())
        await eventually(wms.is_waiting_for_lock, what="it waits", seconds=10)
        await transaction.connection.execute(
            "UPDATE jobs SET lease_until = now() + interval '1 hour'"
        )
    await expiring
    assert (await wms.status(task)).leased == 1


async def test_lost_job_goes_to_another_pilot_and_its_first_pilot_abandons_it(
    wms: WmsFixture,
) -> None:
    await wms.add_task(make_task(), jobs=1)
    first, other = await wms.add_pilot(), await wms.add_pilot()
    (job,) = await wms.lease(first)
    await wms.backdate_leases(job)
    await wms.expire_leases()
    (retried_job,) = await wms.lease(other)
    answer = await wms.send_heartbeat(first, running=[job])
    assert [command.kind for command in answer.commands] == ["abandon"]
    assert (await wms.send_heartbeat(other, waiting=[retried_job])).commands == []


async def test_heartbeat_after_the_report_gets_no_command(wms: WmsFixture) -> None:
    await wms.add_task(make_task(), jobs=2)
    pilot = await wms.add_pilot()
    job, _ = await wms.lease(pilot, 2)
    await wms.finish(pilot, job)
    assert (await wms.send_heartbeat(pilot, running=[job])).commands == []


async def test_sign_off_returns_jobs_at_once(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(retry=1), jobs=3)
    pilot, other = await wms.add_pilot(), await wms.add_pilot()
    first, retried_job, kept_job = await wms.lease(pilot, 3)
    returned = [JobToken(id=job.id, attempt=job.attempt) for job in (first, retried_job)]
    await sign_off_pilot(wms.context, pilot, [*returned, JobToken(id=kept_job.id, attempt=7)])
    await sign_off_pilot(wms.context, pilot, returned)
    status = await wms.status(task)
    assert (status.ready, status.leased, status.failed_attempts) == (2, 1, 0)
    assert {job.id for job in await wms.lease(other, 3)} == {first.id, retried_job.id}
    assert (await wms.request_lease(pilot)).drain
    assert await wms.finish(pilot, kept_job) == [ReportAnswer.ACCEPTED]


async def test_draining_pilot_gets_no_new_jobs(wms: WmsFixture) -> None:
    await wms.add_task(make_task(), jobs=2)
    pilot = await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    await drain_pilot(wms.context, pilot)
    answer = await wms.request_lease(pilot, wait=30.0)
    assert (answer.drain, answer.jobs) == (True, [])
    assert (await wms.send_heartbeat(pilot, running=[job])).drain
    await wms.execute("UPDATE pilots SET seen_at = now() - interval '1 day'")
    await lose_pilots(wms.context)
    assert [listed_pilot.state for listed_pilot in (await list_pilots(wms.context)).pilots] == [
        PilotState.LOST
    ]
    assert (await wms.send_heartbeat(pilot, running=[job])).drain
    (listed_pilot,) = (await list_pilots(wms.context)).pilots
    assert (listed_pilot.state, listed_pilot.running) == (PilotState.DRAINING, 1)


async def test_silent_pilot_is_lost_until_its_next_request(wms: WmsFixture) -> None:
    await wms.add_task(make_task(), jobs=1)
    pilot = await wms.add_pilot()
    await wms.execute("UPDATE pilots SET seen_at = now() - interval '1 day'")
    await lose_pilots(wms.context)
    assert len(await wms.lease(pilot)) == 1
    assert [listed_pilot.state for listed_pilot in (await list_pilots(wms.context)).pilots] == [
        PilotState.ACTIVE
    ]


async def test_failed_jobs_can_be_retried_until_the_task_ends(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(retry=1, boundary=LENIENT), jobs=3)
    pilot = await wms.add_pilot()
    jobs = await wms.lease(pilot, 2)
    await wms.fail(pilot, *jobs)
    with pytest.raises(Conflict):
        await retry_job(wms.context, jobs[1].id + 1)
    assert (await retry_job(wms.context, jobs[0].id)).state is JobState.READY
    status = await retry_task(wms.context, task.uid)
    assert (status.ready, status.failed, status.errors) == (3, 0, {})
    await wms.finish(pilot, *await wms.lease(pilot, 3))
    assert (await wms.status(task)).state is TaskState.FINISHED
    with pytest.raises(Conflict):
        await retry_task(wms.context, task.uid)
    with pytest.raises(NotFound):
        await retry_job(wms.context, 12345)


async def test_impossible_memory_of_a_report_does_not_fail_the_job(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(resources=Resources(ram=100)), jobs=1)
    pilot = await wms.add_pilot(ram=1000)
    other = await wms.add_pilot(name="other", ram=1200)
    (job,) = await wms.lease(pilot)
    report = wms.make_report(
        job, AttemptOutcome.FAILED, error=ErrorClass.OUT_OF_MEMORY, peak_memory=2.0**31
    )
    await wms.report(pilot, report)
    assert (await wms.status(task)).failed == 0
    (retried_job,) = await wms.lease(other)
    assert retried_job.ram == 1200, "the job asks for more than the largest node has"


async def test_memory_of_a_report_is_bounded_by_the_node_of_its_pilot(wms: WmsFixture) -> None:
    await wms.add_task(make_task(resources=Resources(ram=100)), jobs=1)
    pilot = await wms.add_pilot(ram=1000)
    large = await wms.add_pilot(name="large", ram=64_000)
    (job,) = await wms.lease(pilot)
    report = wms.make_report(
        job, AttemptOutcome.FAILED, error=ErrorClass.OUT_OF_MEMORY, peak_memory=2.0**31
    )
    await wms.report(pilot, report)
    (retried_job,) = await wms.lease(large)
    assert retried_job.ram == 1500


async def test_impossible_gpu_memory_of_a_report_does_not_fail_the_job(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(retry=5, device_type=DeviceType.GPU), jobs=1)
    small, large = gpu("GPU-0", memory=8_000), gpu("GPU-1", memory=24_000)
    pilot = await wms.add_pilot(devices=[small], gpus=[small.name])
    other = await wms.add_pilot(name="other", devices=[large], gpus=[large.name])
    (job,) = await wms.lease(pilot)
    await wms.report(pilot, make_gpu_memory_report(wms, job, 2**31 - 1))
    assert (await wms.status(task)).failed == 0
    (retried_job,) = await wms.lease(other)
    assert retried_job.gpu_memory == 8_001


async def test_gpu_out_of_memory_asks_for_a_larger_gpu(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(retry=5, device_type=DeviceType.GPU), jobs=1)
    devices = {memory: gpu(f"GPU-{memory}", memory=memory) for memory in (8_000, 24_000)}
    pilots = {
        memory: await wms.add_pilot(name=device.uuid, devices=[device], gpus=[device.name])
        for memory, device in devices.items()
    }
    (job,) = await wms.lease(pilots[8_000])
    assert job.gpu_memory is None
    await wms.report(pilots[8_000], make_gpu_memory_report(wms, job, 8_000))
    assert await wms.lease(pilots[8_000]) == []
    (retried_job,) = await wms.lease(pilots[24_000])
    assert (retried_job.gpu_memory, retried_job.ram) == (8_001, None)
    await wms.report(pilots[24_000], make_gpu_memory_report(wms, retried_job, 24_000))
    status = await wms.status(task)
    assert status.state is TaskState.FAILED
    assert "has a GPU with more than 24000 MiB of memory, which it had" in status.reason


async def test_job_that_waits_for_a_larger_gpu_is_explained(wms: WmsFixture) -> None:
    await wms.add_task(make_task(retry=5, device_type=DeviceType.GPU), jobs=1)
    small, large = gpu("GPU-0", memory=8_000), gpu("GPU-1", memory=24_000)
    pilot = await wms.add_pilot(devices=[small], gpus=[small.name])
    available_pilot = await wms.add_pilot(name="going", devices=[large], gpus=[large.name])
    (job,) = await wms.lease(pilot)
    await wms.report(pilot, make_gpu_memory_report(wms, job, 8_000))
    await sign_off_pilot(wms.context, available_pilot, [])
    await wms.execute("UPDATE jobs SET not_before = now() WHERE id = $1", job.id)
    explanation = (await explain_job(wms.context, job.id)).text
    assert "needs a GPU with 8001 MiB of memory, the node has 8000" in explanation


def make_gpu_memory_report(wms: WmsFixture, job: ClaimedJob, memory: int) -> AttemptReport:
    report = wms.make_report(job, AttemptOutcome.FAILED, error=ErrorClass.OUT_OF_MEMORY)
    return report.model_copy(update={"gpu_memory": memory})


async def test_out_of_memory_asks_for_a_larger_node(wms: WmsFixture) -> None:
    await wms.add_task(make_task(retry=3), jobs=1)
    small, large = await wms.add_pilot(ram=300), await wms.add_pilot(ram=1000)
    (job,) = await wms.lease(small)
    await wms.fail(small, job, error=ErrorClass.OUT_OF_MEMORY)
    assert await wms.lease(small) == []
    (retried_job,) = await wms.lease(large)
    assert retried_job.ram == 384
