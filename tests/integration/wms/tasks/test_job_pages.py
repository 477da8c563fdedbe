"""A task's jobs are listed in every order and state, each once, along an index."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from sluice.contracts.common.problems import InvalidCursor, NotFound
from sluice.contracts.common.states import ErrorClass, JobState
from sluice.contracts.jobs.tasks import Job, JobOrder, Task
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.query_plans import (
    count_buffers,
    explain_query,
    list_job_scans,
    list_nodes,
)
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.jobs import job_pages
from wms.db.jobs.job_pages import JobQuery, UnsupportedOrder
from wms.usecases.tasks.get_job import get_job
from wms.usecases.tasks.list_jobs import list_jobs


async def list_pages(wms: WmsFixture, task: Task, *, limit: int, **query: Any) -> list[Job]:
    jobs: list[Job] = []
    after = None
    while True:
        page = await list_jobs(
            wms.context, task.uid, JobQuery(limit=limit, after=after, full=True, **query)
        )
        assert len(page.jobs) <= limit
        jobs += page.jobs
        if page.after is None:
            return jobs
        after = page.after


@pytest.fixture
async def mixed_jobs(wms: WmsFixture) -> tuple[Task, UUID]:
    """Add jobs: 12 finished, 4 failed, 3 ready again, 5 running, 2 leased and 14 never leased."""
    task = await wms.add_task(make_task(retry=1, boundary=Boundary(minimum=0.1)), jobs=40)
    pilot = await wms.add_pilot(name="farm-07")
    jobs = await wms.lease(pilot, 26)
    await wms.backdate_start(*jobs, seconds=30)
    for number, job in enumerate(jobs[:12]):
        report = wms.make_report(job)
        seconds = timedelta(seconds=(number * 7) % 12)
        changed = {
            "started_at": report.ended_at - seconds,
            "peak_memory": float((number * 5) % 12),
            "cpu_seconds": 1.5,
        }
        await wms.report(pilot, report.model_copy(update=changed))
    await wms.fail(pilot, *jobs[12:16])
    await wms.fail(pilot, *jobs[16:19], error=ErrorClass.NO_SPACE)
    await wms.send_heartbeat(pilot, running=jobs[19:24], waiting=jobs[24:26])
    return task, pilot


COUNTS = {
    None: 40,
    JobState.FINISHED: 12,
    JobState.FAILED: 4,
    JobState.RUNNING: 5,
    JobState.LEASED: 2,
    JobState.READY: 17,
}


@pytest.mark.parametrize(("state", "count"), COUNTS.items())
@pytest.mark.parametrize("limit", [1, 3, 1000])
async def test_every_job_is_listed_once(
    wms: WmsFixture, mixed_jobs: tuple[Task, UUID], state: JobState | None, count: int, limit: int
) -> None:
    jobs = await list_pages(wms, mixed_jobs[0], limit=limit, state=state)
    seqs = [job.seq for job in jobs]
    assert len(seqs) == len(set(seqs)) == count
    assert all(job.state is state for job in jobs if state is not None)
    if state is JobState.READY:
        assert seqs[:14] == list(range(26, 40)), "jobs that were never leased do not come first"
        assert sorted(seqs[14:]) == [16, 17, 18], "jobs that are ready again are missing"
    else:
        assert seqs == sorted(seqs)


@pytest.mark.parametrize("limit", [1, 5, 1000])
@pytest.mark.parametrize(
    ("order", "figure"), [(JobOrder.TIME, "seconds"), (JobOrder.MEMORY, "peak_memory")]
)
async def test_jobs_are_listed_by_time_and_memory_in_descending_order(
    wms: WmsFixture, mixed_jobs: tuple[Task, UUID], order: JobOrder, figure: str, limit: int
) -> None:
    for state, count in (
        (None, 16),
        (JobState.FINISHED, 12),
        (JobState.FAILED, 4),
        (JobState.CANCELED, 0),
    ):
        jobs = await list_pages(wms, mixed_jobs[0], limit=limit, order=order, state=state)
        figures = [getattr(job, figure) or 0.0 for job in jobs]
        assert len({job.seq for job in jobs}) == len(jobs) == count
        assert figures == sorted(figures, reverse=True)
    finished = await list_pages(
        wms, mixed_jobs[0], limit=limit, order=order, state=JobState.FINISHED
    )
    assert [round(getattr(job, figure)) for job in finished] == list(range(11, -1, -1))


async def test_jobs_are_listed_with_their_details(
    wms: WmsFixture, mixed_jobs: tuple[Task, UUID]
) -> None:
    task, pilot = mixed_jobs
    by_seq = {job.seq: job for job in await list_pages(wms, task, limit=100)}
    ended, failed, running, fresh = by_seq[1], by_seq[12], by_seq[19], by_seq[30]
    assert (
        ended.pilot_name,
        ended.exit_code,
        ended.seconds,
        ended.peak_memory,
        ended.cpu_seconds,
    ) == (
        "farm-07",
        0,
        7.0,
        5.0,
        1.5,
    )
    assert (failed.pilot_name, failed.exit_code, failed.error_class) == (
        "farm-07",
        1,
        ErrorClass.TOOL_FAILED,
    )
    assert (running.pilot_name, running.seconds, running.exit_code) == ("farm-07", None, None)
    assert running.started_at is not None
    assert (fresh.pilot_name, fresh.started_at) == (None, None)
    plain = await list_jobs(wms.context, task.uid, JobQuery(limit=1))
    assert plain.jobs[0].seconds is None, "details are read on request"
    [attempt] = (await get_job(wms.context, failed.id)).attempts
    assert (attempt.pilot_name, attempt.pilot_uid) == ("farm-07", str(pilot))


@pytest.mark.parametrize("after", ["x", "-1", "1/2", "9" * 30])
async def test_cursor_of_another_list_is_refused(
    wms: WmsFixture, mixed_jobs: tuple[Task, UUID], after: str
) -> None:
    with pytest.raises(InvalidCursor):
        await list_jobs(wms.context, mixed_jobs[0].uid, JobQuery(after=after))
    with pytest.raises(InvalidCursor):
        await list_jobs(
            wms.context, mixed_jobs[0].uid, JobQuery(after="high/7x", order=JobOrder.TIME)
        )


async def test_running_jobs_cannot_be_listed_by_time(
    wms: WmsFixture, mixed_jobs: tuple[Task, UUID]
) -> None:
    with pytest.raises(UnsupportedOrder, match="these are running"):
        await list_jobs(
            wms.context, mixed_jobs[0].uid, JobQuery(state=JobState.RUNNING, order=JobOrder.TIME)
        )
    with pytest.raises(NotFound):
        await list_jobs(wms.context, mixed_jobs[1], JobQuery())


STATEMENTS: dict[str, tuple[str, list[Any]]] = {
    "jobs_task_seq": (job_pages.BY_SEQ, [29_000, 51]),
    "jobs_ready": (job_pages.READY, ["-infinity", 45_000, 51]),
    "jobs_in_flight": (job_pages.IN_FLIGHT, [-1, 51, JobState.RUNNING]),
    **{
        f"jobs_settled {state}": (statement, [5, 51])
        for state, statement in job_pages.BY_SEQ_SETTLED.items()
    },
    **{
        f"jobs_by_{'seconds' if order is JobOrder.TIME else 'memory'} {state or 'all'}": (
            statement,
            [30.0, 4_000, 51],
        )
        for (order, state), statement in job_pages.BY_FIGURE.items()
    },
}


async def test_each_order_is_read_along_its_index(wms: WmsFixture) -> None:
    """The pages read depend on the jobs shown, not on the 50 000 jobs and their states."""
    await wms.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    await wms.execute("ALTER TABLE jobs DISABLE TRIGGER legal_transition")  # the states are made up
    task, other = (
        await wms.add_task(make_task(), jobs=50_000),
        await wms.add_task(make_task(), jobs=2_000),
    )
    await wms.execute(
        """
        UPDATE jobs SET state = ($2::text[])[seq % 3 + 1], ended_at = now(), attempt = 1,
            not_before = now(), seconds = seq % 60, peak_memory = seq % 60
        WHERE task_uid = $1 AND seq < 40000
        """,
        task.uid,
        [JobState.FINISHED, JobState.FAILED, JobState.CANCELED],
    )
    await wms.execute(
        """
        UPDATE jobs SET state = $2, attempt = 1, not_before = now()
        WHERE task_uid = $1 AND seq = 7
        """,
        other.uid,
        JobState.QUARANTINED,
    )
    for statement in ("VACUUM jobs", "ANALYZE"):
        await wms.execute(statement)
    for name, (query, place) in STATEMENTS.items():
        index = name.partition(" ")[0]
        query_plan = await explain_query(wms, query, task.uid, *place)
        assert list_job_scans(query_plan) - {"Bitmap Heap Scan"} == {index}, name
        assert "Sort" not in {
            node["Node Type"]
            for node in list_nodes(query_plan)
            if name in {"jobs_task_seq", "jobs_ready"}
        }, name
        assert count_buffers(query_plan) < 700, name
