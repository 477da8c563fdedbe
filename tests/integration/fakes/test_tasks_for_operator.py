"""The operator tests' fake WMS has tasks and jobs as the real WMS."""

from uuid import uuid4

import pytest
import pytest_asyncio

from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.jobs.tasks import JobOrder
from tests.integration.fakes.operator_wms import OperatorWms
from tests.integration.fakes.real_services import RealServices
from tests.integration.fakes.two_services import (
    CONFLICT,
    NOT_FOUND,
    REAL,
    UNPROCESSABLE,
    get_refusal,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def wms(kind: str, services: RealServices) -> OperatorWms:
    wms = OperatorWms.real(services) if kind == REAL else OperatorWms.fake(services)
    await wms.clear()
    return wms


async def test_latest_tasks_come_first(wms: OperatorWms) -> None:
    first, second, third = [await wms.task(jobs=1) for _ in range(3)]
    await wms.copy_rows()
    tasks = (await wms.client.list_tasks()).tasks
    assert [task.uid for task in tasks] == [third.uid, second.uid, first.uid]
    assert len((await wms.client.list_tasks(limit=2)).tasks) == 2


async def test_troubled_tasks_are_live_and_those_with_quarantined_jobs_come_first(
    wms: OperatorWms,
) -> None:
    quarantined, failed, failed_later = [await wms.task(jobs=2) for _ in range(3)]
    await wms.quarantine(quarantined, 0)
    ended = await wms.task(jobs=2)
    await wms.task(jobs=1)
    for task in (failed, failed_later, ended):
        await wms.work.execute("UPDATE tasks SET failed = 1, ready = 1 WHERE uid = $1", task.uid)
    await wms.services.wms.cancel_task(ended.uid)
    await wms.copy_rows()
    troubled = (await wms.client.list_tasks(troubled=True)).tasks
    assert [task.uid for task in troubled] == [quarantined.uid, failed_later.uid, failed.uid]
    assert len((await wms.client.list_tasks(troubled=True, limit=1)).tasks) == 1
    assert (await wms.client.get_counts(troubled=True)).troubled == 3
    assert (await wms.client.get_counts()).troubled is None


async def test_counts_include_only_live_tasks(wms: OperatorWms) -> None:
    await wms.quarantine(await wms.task(jobs=3), 1)
    await wms.pilot()
    await wms.copy_rows()
    counts = await wms.client.get_counts()
    assert (counts.waiting, counts.running, counts.quarantined) == (2, 0, 1)
    assert counts.slots == 4


async def test_jobs_are_listed_by_number_on_pages(wms: OperatorWms) -> None:
    task = await wms.task(jobs=3)
    await wms.copy_rows()
    page = await wms.client.list_jobs(task.uid, limit=2)
    assert [job.seq for job in page.jobs] == [0, 1]
    assert page.after is not None
    last = await wms.client.list_jobs(task.uid, limit=2, after=page.after)
    assert [job.seq for job in last.jobs] == [2]
    assert last.after is None
    assert (await wms.client.list_jobs(task.uid, limit=3)).after is None


async def test_jobs_are_filtered_by_state(wms: OperatorWms) -> None:
    task = await wms.task(jobs=3)
    await wms.quarantine(task, 1)
    await wms.copy_rows()
    states = {
        state: [job.seq for job in (await wms.client.list_jobs(task.uid, state=state)).jobs]
        for state in (JobState.READY, JobState.QUARANTINED, JobState.FAILED)
    }
    assert states == {JobState.READY: [0, 2], JobState.QUARANTINED: [1], JobState.FAILED: []}


async def test_order_by_time_has_only_ended_jobs_and_the_longest_first(wms: OperatorWms) -> None:
    task = await wms.task(jobs=4)
    pilot, jobs = await wms.lease(task, 3)
    for job, seconds in zip(jobs, (1.0, 3.0, 2.0), strict=True):
        await wms.work.finish(pilot, job)
        await wms.work.execute("UPDATE jobs SET seconds = $2 WHERE id = $1", job.id, seconds)
        await wms.work.execute(
            "UPDATE attempts SET ended_at = started_at + make_interval(secs => $2)"
            " WHERE job_id = $1",
            job.id,
            seconds,
        )
    await wms.copy_rows()
    page = await wms.client.list_jobs(task.uid, sort=JobOrder.TIME, limit=2, full=True)
    assert [job.seconds for job in page.jobs] == [3.0, 2.0]
    assert page.after is not None
    rest = await wms.client.list_jobs(task.uid, sort=JobOrder.TIME, limit=2, after=page.after)
    assert [job.seq for job in rest.jobs] == [jobs[0].seq]


@pytest.mark.parametrize("state", [JobState.READY, JobState.RUNNING, JobState.QUARANTINED])
async def test_jobs_that_have_not_ended_have_no_order_by_time(
    wms: OperatorWms, state: JobState
) -> None:
    task = await wms.task(jobs=1)
    await wms.copy_rows()
    call = wms.client.list_jobs(task.uid, sort=JobOrder.TIME, state=state)
    assert await get_refusal(call) == UNPROCESSABLE


async def test_only_a_full_list_has_details_of_attempts(wms: OperatorWms) -> None:
    task = await wms.task(jobs=1)
    pilot, [job] = await wms.lease(task, 1)
    await wms.work.finish(pilot, job)
    await wms.copy_rows()
    [brief] = (await wms.client.list_jobs(task.uid)).jobs
    [full] = (await wms.client.list_jobs(task.uid, full=True)).jobs
    assert (brief.pilot_name, brief.seconds, brief.exit_code) == (None, None, None)
    assert (full.pilot_name, full.seconds, full.exit_code) == (f"p-{pilot}", 0.0, 0)
    assert (brief.attempts, full.attempts) == ([], [])


async def test_job_has_its_attempts(wms: OperatorWms) -> None:
    task = await wms.task(jobs=1)
    pilot, [job] = await wms.lease(task, 1)
    await wms.work.fail(pilot, job)
    await wms.copy_rows()
    shown = await wms.client.get_job(job.id)
    assert [(one.attempt, one.pilot_uid) for one in shown.attempts] == [(1, str(pilot))]
    assert (shown.pilot_name, shown.seconds) == (None, None), "only a full answer has them"


async def test_invalid_cursor_of_jobs_is_refused(wms: OperatorWms) -> None:
    task = await wms.task(jobs=1)
    await wms.copy_rows()
    assert await get_refusal(wms.client.list_jobs(task.uid, after="x")) == UNPROCESSABLE


async def test_unknown_tasks_and_jobs_are_not_found(wms: OperatorWms) -> None:
    assert await get_refusal(wms.client.list_jobs(uuid4())) == NOT_FOUND
    assert await get_refusal(wms.client.explain_task(uuid4())) == NOT_FOUND
    assert await get_refusal(wms.client.retry_task(uuid4())) == NOT_FOUND
    assert await get_refusal(wms.client.get_job(4711)) == NOT_FOUND
    assert await get_refusal(wms.client.get_timeline(uuid4())) == NOT_FOUND


async def test_explanation_is_a_sentence(wms: OperatorWms) -> None:
    task = await wms.task(jobs=1)
    await wms.copy_rows()
    assert (await wms.client.explain_task(task.uid)).text


async def test_retry_makes_failed_and_quarantined_jobs_ready(wms: OperatorWms) -> None:
    task = await wms.task(jobs=3)
    await wms.quarantine(task, 2)
    await wms.copy_rows()
    status = await wms.client.retry_task(task.uid)
    assert (status.ready, status.failed, status.quarantined) == (3, 0, 0)
    assert status.errors == {}
    jobs = (await wms.client.list_jobs(task.uid)).jobs
    assert [job.state for job in jobs] == [JobState.READY] * 3


async def test_jobs_of_an_ended_task_cannot_be_retried(wms: OperatorWms) -> None:
    task = await wms.task(jobs=1)
    await wms.services.wms.cancel_task(task.uid)
    await wms.copy_rows()
    assert await get_refusal(wms.client.retry_task(task.uid)) == CONFLICT


async def test_times_without_tasks_are_empty(wms: OperatorWms) -> None:
    times = await wms.client.get_times(chain_uid=[uuid4()])
    assert (times.steps, times.passage, times.chains, times.uncounted) == ([], None, None, 0)


async def test_list_of_unschedulable_tasks_has_their_number(wms: OperatorWms) -> None:
    for _ in range(2):
        await wms.task(jobs=1, resources=Resources(cores=512))
    await wms.pilot()
    await wms.work.execute("UPDATE pilots SET registered_at = now() - interval '1 hour'")
    await wms.work.execute("UPDATE tasks SET created_at = now() - interval '1 hour'")
    await wms.copy_rows()
    unschedulable = await wms.client.list_unschedulable_tasks(limit=1)
    assert (len(unschedulable.tasks), unschedulable.number) == (1, 2)
    assert unschedulable.tasks[0].reason
