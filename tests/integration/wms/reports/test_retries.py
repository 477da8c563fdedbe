"""Failed jobs are tried again, unless they would fail in the same way."""

import pytest

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import (
    AttemptOutcome,
    ErrorClass,
    JobState,
    ReportAnswer,
    TaskState,
)
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.wms_fixture import WmsFixture, make_task
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
