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
from tests.integration.wms.stage import Stage, make_task
from tests.unit.gpus import gpu
from tests.waiting import eventually
from wms.db.jobs.leases import ClaimedJob
from wms.db.tasks.tasks import lock_tasks
from wms.usecases.leasing.explain import explain_job
from wms.usecases.pilots.drain_pilot import drain_pilot
from wms.usecases.pilots.list_pilots import list_pilots
from wms.usecases.pilots.lose_pilots import lose_pilots
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.reports.retry_jobs import retry_job, retry_task

LENIENT = Boundary(minimum=0.0, sufficient=1.0)


async def test_job_that_failed_on_a_pilot_goes_to_other_pilots_first(stage: Stage) -> None:
    """A pilot whose jobs fail fast does not use up all attempts of a job."""
    task = await stage.add_task(make_task(retry=5), jobs=1)
    pilot = await stage.add_pilot()
    await stage.fail(pilot, *await stage.lease(pilot))
    await stage.fail(pilot, *await stage.lease(pilot))
    assert (await stage.status(task)).failed_attempts == 2, "the only pilot got no second attempt"
    other = await stage.add_pilot(name="other")
    assert await stage.lease(pilot) == []
    (third,) = await stage.lease(other)
    await stage.fail(other, third)
    await stage.execute("UPDATE jobs SET not_before = now() - interval '1 minute'")
    assert len(await stage.lease(pilot)) == 1, (
        "the pilot got no job although no other pilot took it"
    )


async def test_failed_job_is_tried_again_up_to_retry(stage: Stage) -> None:
    task = await stage.add_task(make_task(retry=3), jobs=1)
    pilot = await stage.add_pilot()
    for attempt in (1, 2, 3):
        (job,) = await stage.lease(pilot)
        assert job.attempt == attempt
        await stage.fail(pilot, job)
    status = await stage.status(task)
    assert (status.state, status.failed, status.failed_attempts) == (TaskState.FAILED, 1, 3)
    assert "1 of 1 job failed" in status.reason
    last = (
        f"job {job.id} (frame-0000.raw): tool_failed: exit code 1 (`sluice logs {job.id}`"
        " shows its log)"
    )
    assert last in status.reason, "the reason does not name the job and its log"
    sent = await stage.sent()
    assert sent.close_at == {task.main_output.dat_out_uid: [0], task.log_out_uid: [3]}


async def test_lease_request_that_finds_no_job_keeps_the_start_time_of_the_task(
    stage: Stage,
) -> None:
    task = await stage.add_task(make_task(retry=3), jobs=1)
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    began = (await stage.status(task)).started_at
    assert began is not None
    await stage.fail(pilot, job)
    await stage.execute("UPDATE jobs SET not_before = now() + interval '1 hour'")
    assert await stage.lease(pilot) == []
    assert (await stage.status(task)).started_at == began


async def test_job_with_a_refused_input_is_not_retried(stage: Stage) -> None:
    task = await stage.add_task(make_task(retry=5, boundary=LENIENT), jobs=2)
    pilot = await stage.add_pilot()
    job, _ = await stage.lease(pilot, 2)
    await stage.fail(pilot, job, error=ErrorClass.TOOL_REFUSED)
    assert (await stage.status(task)).errors == {ErrorClass.TOOL_REFUSED: 1}
    assert await stage.lease(pilot) == []


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (ErrorClass.TOOL_TIMEOUT, -15, "tool_timeout: it took long"),
        (ErrorClass.TOOL_FAILED, 127, "tool_failed: it took long"),
        (
            ErrorClass.OUT_OF_MEMORY,
            -9,
            (
                "out_of_memory: it took long; not tried again: no node has the 18000 MiB that"
                " another attempt would ask for (the largest 16000)"
            ),
        ),
    ],
)
async def test_job_that_would_fail_in_the_same_way_is_not_retried(
    stage: Stage, error: ErrorClass, code: int, sentence: str
) -> None:
    pilot = await stage.add_pilot(ram=16_000)
    for also, tried_again in ([], False), (["tool_timeout", "no_program", "out_of_memory"], True):
        needs = Resources(ram=12_000)
        task = await stage.add_task(make_task(retry_also=also, resources=needs), jobs=1)
        (job,) = await stage.lease(pilot)
        report = stage.report_of(
            job,
            AttemptOutcome.FAILED,
            error=error,
            exit_code=code,
            message="it took long",
            peak_memory=12001.6,
        )
        assert await stage.report(pilot, report) == [ReportAnswer.ACCEPTED]
        status = await stage.status(task)
        assert (status.failed, status.ready) == (not tried_again, tried_again)
        assert sentence in status.reason or tried_again
        await stage.execute("UPDATE tasks SET rank = 0")


async def test_next_attempt_asks_for_more_memory_than_was_used(stage: Stage) -> None:
    task = await stage.add_task(make_task(resources=Resources(ram=100)), jobs=1)
    pilot = await stage.add_pilot(ram=16_000)
    (job,) = await stage.lease(pilot)
    report = stage.report_of(
        job, AttemptOutcome.FAILED, error=ErrorClass.OUT_OF_MEMORY, peak_memory=1030.0
    )
    await stage.report(pilot, report)
    (again,) = await stage.lease(pilot)
    assert (again.attempt, again.ram) == (2, 1545)
    assert (await stage.status(task)).failed_attempts == 1


async def test_job_is_not_leased_during_its_backoff(stage: Stage) -> None:
    task = await stage.add_task(make_task(backoff=3600.0), jobs=2)
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    await stage.fail(pilot, job)
    assert [other.seq for other in await stage.lease(pilot, 5)] == [1]
    assert (await stage.status(task)).ready == 1
    await stage.execute("UPDATE jobs SET not_before = now() WHERE id = $1", job.id)
    assert [(again.seq, again.attempt) for again in await stage.lease(pilot, 5)] == [(0, 2)]


async def test_five_lost_pilots_in_a_row_hold_the_job_without_failing_it(
    stage: Stage,
) -> None:
    task = await stage.add_task(make_task(retry=1), jobs=1)
    pilot = await stage.add_pilot()
    for _ in range(5):
        (job,) = await stage.lease(pilot)
        await stage.overdue(job)
        await stage.expire()
    assert (await stage.status(task)).quarantined == 1
    assert (await stage.status(task)).state is TaskState.ACTIVE
    assert await stage.lease(pilot) == []
    assert (await retry_task(stage.context, task.uid)).ready == 1
    (again,) = await stage.lease(pilot)
    assert again.attempt == 6
    await stage.finish(pilot, again)
    assert (await stage.status(task)).state is TaskState.FINISHED


async def test_failure_between_losses_restarts_the_count_of_losses(stage: Stage) -> None:
    task = await stage.add_task(make_task(retry=2), jobs=1)
    pilot = await stage.add_pilot()
    for number in range(9):
        (job,) = await stage.lease(pilot)
        if number == 4:
            await stage.fail(pilot, job)
        else:
            await stage.overdue(job)
            await stage.expire()
    assert (await stage.status(task)).ready == 1


async def test_renewed_lease_does_not_expire(stage: Stage) -> None:
    """Invariant 6: the job is leased again only after its lease has ended."""
    task = await stage.add_task(make_task(), jobs=2)
    pilot = await stage.add_pilot()
    renewed_job, lost = await stage.lease(pilot, 2)
    await stage.overdue(renewed_job, lost)
    answer = await stage.beat(pilot, running=[renewed_job])
    assert answer.commands == []
    await stage.expire()
    status = await stage.status(task)
    assert (status.running, status.ready) == (1, 1)
    answer = await stage.beat(pilot, running=[renewed_job, lost])
    assert [(command.kind, command.job.id) for command in answer.commands] == [("abandon", lost.id)]


async def test_heartbeat_between_the_check_and_the_lock_saves_the_lease(
    stage: Stage, second: Stage
) -> None:
    """Invariant 6: the end of the lease is checked again under the lock."""
    task = await stage.add_task(make_task(), jobs=1)
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    await stage.overdue(job)
    async with second.database.transaction() as transaction:
        await lock_tasks(transaction.connection, [task.uid])
        expiring = asyncio.create_task(stage.expire())
        await eventually(stage.waits_for_lock, what="it waits", seconds=10)
        await transaction.connection.execute(
            "UPDATE jobs SET lease_until = now() + interval '1 hour'"
        )
    await expiring
    assert (await stage.status(task)).leased == 1


async def test_lost_job_goes_to_another_pilot_and_its_first_pilot_abandons_it(stage: Stage) -> None:
    await stage.add_task(make_task(), jobs=1)
    first, other = await stage.add_pilot(), await stage.add_pilot()
    (job,) = await stage.lease(first)
    await stage.overdue(job)
    await stage.expire()
    (again,) = await stage.lease(other)
    answer = await stage.beat(first, running=[job])
    assert [command.kind for command in answer.commands] == ["abandon"]
    assert (await stage.beat(other, waiting=[again])).commands == []


async def test_heartbeat_after_the_report_gets_no_command(stage: Stage) -> None:
    await stage.add_task(make_task(), jobs=2)
    pilot = await stage.add_pilot()
    job, _ = await stage.lease(pilot, 2)
    await stage.finish(pilot, job)
    assert (await stage.beat(pilot, running=[job])).commands == []


async def test_sign_off_returns_jobs_at_once(stage: Stage) -> None:
    task = await stage.add_task(make_task(retry=1), jobs=3)
    pilot, other = await stage.add_pilot(), await stage.add_pilot()
    first, again, kept_job = await stage.lease(pilot, 3)
    returned = [JobToken(id=job.id, attempt=job.attempt) for job in (first, again)]
    await sign_off_pilot(stage.context, pilot, [*returned, JobToken(id=kept_job.id, attempt=7)])
    await sign_off_pilot(stage.context, pilot, returned)
    status = await stage.status(task)
    assert (status.ready, status.leased, status.failed_attempts) == (2, 1, 0)
    assert {job.id for job in await stage.lease(other, 3)} == {first.id, again.id}
    assert (await stage.leased(pilot)).drain
    assert await stage.finish(pilot, kept_job) == [ReportAnswer.ACCEPTED]


async def test_draining_pilot_gets_no_new_jobs(stage: Stage) -> None:
    await stage.add_task(make_task(), jobs=2)
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    await drain_pilot(stage.context, pilot)
    answer = await stage.leased(pilot, wait=30.0)
    assert (answer.drain, answer.jobs) == (True, [])
    assert (await stage.beat(pilot, running=[job])).drain
    await stage.execute("UPDATE pilots SET seen_at = now() - interval '1 day'")
    await lose_pilots(stage.context)
    assert [shown.state for shown in (await list_pilots(stage.context)).pilots] == [PilotState.LOST]
    assert (await stage.beat(pilot, running=[job])).drain
    (shown,) = (await list_pilots(stage.context)).pilots
    assert (shown.state, shown.running) == (PilotState.DRAINING, 1)


async def test_silent_pilot_is_lost_until_its_next_request(stage: Stage) -> None:
    await stage.add_task(make_task(), jobs=1)
    pilot = await stage.add_pilot()
    await stage.execute("UPDATE pilots SET seen_at = now() - interval '1 day'")
    await lose_pilots(stage.context)
    assert len(await stage.lease(pilot)) == 1
    assert [shown.state for shown in (await list_pilots(stage.context)).pilots] == [
        PilotState.ACTIVE
    ]


async def test_failed_jobs_can_be_retried_until_the_task_ends(stage: Stage) -> None:
    task = await stage.add_task(make_task(retry=1, boundary=LENIENT), jobs=3)
    pilot = await stage.add_pilot()
    jobs = await stage.lease(pilot, 2)
    await stage.fail(pilot, *jobs)
    with pytest.raises(Conflict):
        await retry_job(stage.context, jobs[1].id + 1)
    assert (await retry_job(stage.context, jobs[0].id)).state is JobState.READY
    status = await retry_task(stage.context, task.uid)
    assert (status.ready, status.failed, status.errors) == (3, 0, {})
    await stage.finish(pilot, *await stage.lease(pilot, 3))
    assert (await stage.status(task)).state is TaskState.FINISHED
    with pytest.raises(Conflict):
        await retry_task(stage.context, task.uid)
    with pytest.raises(NotFound):
        await retry_job(stage.context, 12345)


async def test_impossible_memory_of_a_report_does_not_fail_the_job(stage: Stage) -> None:
    task = await stage.add_task(make_task(resources=Resources(ram=100)), jobs=1)
    pilot = await stage.add_pilot(ram=1000)
    other = await stage.add_pilot(name="other", ram=1200)
    (job,) = await stage.lease(pilot)
    report = stage.report_of(
        job, AttemptOutcome.FAILED, error=ErrorClass.OUT_OF_MEMORY, peak_memory=2.0**31
    )
    await stage.report(pilot, report)
    assert (await stage.status(task)).failed == 0
    (again,) = await stage.lease(other)
    assert again.ram == 1200, "the job asks for more than the largest node has"


async def test_memory_of_a_report_is_bounded_by_the_node_of_its_pilot(stage: Stage) -> None:
    await stage.add_task(make_task(resources=Resources(ram=100)), jobs=1)
    pilot = await stage.add_pilot(ram=1000)
    large = await stage.add_pilot(name="large", ram=64_000)
    (job,) = await stage.lease(pilot)
    report = stage.report_of(
        job, AttemptOutcome.FAILED, error=ErrorClass.OUT_OF_MEMORY, peak_memory=2.0**31
    )
    await stage.report(pilot, report)
    (again,) = await stage.lease(large)
    assert again.ram == 1500


async def test_impossible_gpu_memory_of_a_report_does_not_fail_the_job(stage: Stage) -> None:
    task = await stage.add_task(make_task(retry=5, device_type=DeviceType.GPU), jobs=1)
    small, large = gpu("GPU-0", memory=8_000), gpu("GPU-1", memory=24_000)
    pilot = await stage.add_pilot(devices=[small], gpus=[small.name])
    other = await stage.add_pilot(name="other", devices=[large], gpus=[large.name])
    (job,) = await stage.lease(pilot)
    await stage.report(pilot, full(stage, job, 2**31 - 1))
    assert (await stage.status(task)).failed == 0
    (again,) = await stage.lease(other)
    assert again.gpu_memory == 8_001


async def test_gpu_out_of_memory_asks_for_a_larger_gpu(stage: Stage) -> None:
    task = await stage.add_task(make_task(retry=5, device_type=DeviceType.GPU), jobs=1)
    devices = {memory: gpu(f"GPU-{memory}", memory=memory) for memory in (8_000, 24_000)}
    pilots = {
        memory: await stage.add_pilot(name=device.uuid, devices=[device], gpus=[device.name])
        for memory, device in devices.items()
    }
    (job,) = await stage.lease(pilots[8_000])
    assert job.gpu_memory is None
    await stage.report(pilots[8_000], full(stage, job, 8_000))
    assert await stage.lease(pilots[8_000]) == []
    (again,) = await stage.lease(pilots[24_000])
    assert (again.gpu_memory, again.ram) == (8_001, None)
    await stage.report(pilots[24_000], full(stage, again, 24_000))
    status = await stage.status(task)
    assert status.state is TaskState.FAILED
    assert "has a GPU with more than 24000 MiB of memory, which it had" in status.reason


async def test_job_that_waits_for_a_larger_gpu_is_explained(stage: Stage) -> None:
    await stage.add_task(make_task(retry=5, device_type=DeviceType.GPU), jobs=1)
    small, large = gpu("GPU-0", memory=8_000), gpu("GPU-1", memory=24_000)
    pilot = await stage.add_pilot(devices=[small], gpus=[small.name])
    going = await stage.add_pilot(name="going", devices=[large], gpus=[large.name])
    (job,) = await stage.lease(pilot)
    await stage.report(pilot, full(stage, job, 8_000))
    await sign_off_pilot(stage.context, going, [])
    await stage.execute("UPDATE jobs SET not_before = now() WHERE id = $1", job.id)
    explanation = (await explain_job(stage.context, job.id)).text
    assert "needs a GPU with 8001 MiB of memory, the node has 8000" in explanation


def full(stage: Stage, job: ClaimedJob, memory: int) -> AttemptReport:
    report = stage.report_of(job, AttemptOutcome.FAILED, error=ErrorClass.OUT_OF_MEMORY)
    return report.model_copy(update={"gpu_memory": memory})


async def test_out_of_memory_asks_for_a_larger_node(stage: Stage) -> None:
    await stage.add_task(make_task(retry=3), jobs=1)
    small, large = await stage.add_pilot(ram=300), await stage.add_pilot(ram=1000)
    (job,) = await stage.lease(small)
    await stage.fail(small, job, error=ErrorClass.OUT_OF_MEMORY)
    assert await stage.lease(small) == []
    (again,) = await stage.lease(large)
    assert again.ram == 384
