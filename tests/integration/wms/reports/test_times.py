"""Waiting and run times of jobs are summed for chains and periods, and shown over time."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from sluice.contracts.common.problems import NotFound
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.jobs.times import StepTimes, Timeline, WorkTimes
from tests.integration.wms.query_plans import explain_query, list_job_scans, list_nodes
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.times.timelines import SELECT_BUSY, SELECT_QUEUES
from wms.db.times.times import SELECT_OF_PERIOD, SELECT_TIMES, SELECT_UNCOUNTED, TimesPeriod
from wms.usecases.times.count_ended_tasks import count_ended_tasks
from wms.usecases.times.get_chain_times import get_chain_times
from wms.usecases.times.get_period_times import get_period_times
from wms.usecases.times.get_timeline import get_timeline
from wms.usecases.ttl_cache import TtlCache

#: Waiting and run times in seconds of the jobs of two steps. Their chain began 100 s before.
LAYOUT = [(10.0, 2.0), (20.0, 4.0), (30.0, 6.0)]
MERGE = [(5.0, 50.0)]


async def run_jobs(wms: WmsFixture, task: Task, times: list[tuple[float, float]]) -> None:
    """Finish jobs of the task by the statements of the product, and then set their times."""
    pilot = await wms.add_pilot()
    jobs = await wms.lease(pilot, len(times))
    await wms.finish(pilot, *jobs)
    for job, (waited, worked) in zip(jobs, times, strict=True):
        await wms.execute(
            """UPDATE jobs SET seconds = $2, ready_at = ended_at - make_interval(secs => $3)
            WHERE id = $1""",
            job.id,
            worked,
            waited + worked,
        )


async def add_chain(wms: WmsFixture) -> UUID:
    chain = uuid4()
    for step, times in (("layout", LAYOUT), ("merge", MERGE)):
        task = make_task(step=step, template="ocr", chain_uid=chain)
        await wms.add_task(task, jobs=len(times))
        await run_jobs(wms, task, times)
    await wms.execute(
        "UPDATE tasks SET created_at = created_at - interval '100 seconds' WHERE chain_uid = $1",
        chain,
    )
    return chain


def group_by_name(times: WorkTimes) -> dict[str, StepTimes]:
    return {step.step: step for step in times.steps}


async def test_times_of_a_chain_are_summed_by_step_and_in_total(wms: WmsFixture) -> None:
    """The times are the same before and after the final count of the jobs."""
    chain = await add_chain(wms)
    live = await get_chain_times(wms.context, [chain])
    assert live.uncounted == 0, "the request left tasks uncounted"
    assert not await count_ended_tasks(wms.context)
    stored_times = await get_chain_times(wms.context, [chain])
    assert stored_times == live
    assert [step.step for step in stored_times.steps] == ["layout", "merge"]
    layout = group_by_name(stored_times)["layout"]
    assert layout.working is not None
    assert layout.waiting is not None
    assert (layout.working.count, layout.working.least, layout.working.most) == (3, 2.0, 6.0)
    assert layout.working.mean == pytest.approx(4.0)
    assert layout.waiting.mean == pytest.approx(20.0)
    assert layout.waiting.median == pytest.approx(20.0, rel=0.06)
    assert stored_times.working == pytest.approx(54.0)
    assert stored_times.waiting == pytest.approx(25.0)
    assert stored_times.passage is not None
    assert stored_times.passage.mean == pytest.approx(100.0, abs=5)
    assert stored_times.chains is not None
    assert (stored_times.chains.count, round(stored_times.chains.mean, -1)) == (1, 100)


async def test_times_of_a_running_task_count_its_ended_jobs(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(step="layout"), jobs=5)
    await run_jobs(wms, task, LAYOUT)
    times = await get_chain_times(wms.context, [task.chain_uid])
    [step] = times.steps
    assert (step.finished, step.open, step.working is not None) == (3, 2, True)
    assert step.working is not None
    assert step.working.count == 3
    assert times.chains is None
    await count_ended_tasks(wms.context)
    async with wms.database.connection() as connection:
        stored_times = await connection.fetchval("SELECT times FROM tasks WHERE uid = $1", task.uid)
    assert stored_times is None, "times of a running task were stored as final"


async def test_jobs_without_times_and_jobs_taken_over_are_left_out(
    wms: WmsFixture,
) -> None:
    task = await wms.add_task(make_task(), jobs=3)
    await run_jobs(wms, task, LAYOUT)
    await wms.execute("UPDATE jobs SET ready_at = NULL WHERE seq = 0")
    await wms.execute("UPDATE jobs SET attempt = 0, not_before = '-infinity' WHERE seq = 1")
    await count_ended_tasks(wms.context)
    [step] = (await get_chain_times(wms.context, [task.chain_uid])).steps
    assert step.finished == 3
    assert step.working is not None
    assert (step.working.count, step.working.mean) == (1, 6.0)


async def test_times_of_a_template_in_a_period_are_summed(
    wms: WmsFixture, other_wms: WmsFixture
) -> None:
    """Several chains are added up, and several instances count each task once."""
    for _ in range(2):
        await add_chain(wms)
    other = await wms.add_task(make_task(template="maps"), jobs=1)
    await run_jobs(wms, other, MERGE)
    now = datetime.now(UTC)
    period = TimesPeriod("ocr", now - timedelta(hours=1), now + timedelta(hours=1))
    assert (await get_period_times(wms.context, period)).uncounted == 4
    for instance in (wms, other_wms):
        await count_ended_tasks(instance.context)
    times = await get_period_times(wms.context, period)
    assert (times.uncounted, len(times.steps)) == (0, 2)
    layout = group_by_name(times)["layout"]
    assert (layout.tasks, layout.finished) == (2, 6)
    assert layout.working is not None
    assert layout.working.count == 6
    assert layout.working.total == pytest.approx(24.0)
    assert times.chains is not None
    assert times.chains.count == 2
    earlier = TimesPeriod("ocr", now - timedelta(days=2), now - timedelta(days=1))
    assert (await get_period_times(wms.context, earlier)).steps == []


def run_seconds(timeline: Timeline, lane: int, step: str) -> float:
    """Return the seconds that jobs of a step ran in a lane."""
    return sum(timeline.lanes[lane].busy[timeline.steps.index(step)]) * timeline.seconds


async def test_timeline_shows_the_work_of_pilots_and_the_waiting_jobs(wms: WmsFixture) -> None:
    chain = await add_chain(wms)
    timeline = await get_timeline(wms.context, chain)
    assert (timeline.steps, len(timeline.lanes)) == (["layout", "merge"], 2)
    worked = [
        sum(run_seconds(timeline, lane, step) for lane in range(2)) for step in timeline.steps
    ]
    assert worked == [pytest.approx(12.0, rel=0.05), pytest.approx(50.0, rel=0.05)]
    layout = timeline.queues[0]
    assert (max(layout), layout[-1]) == (3, 0)
    assert sum(layout) * timeline.seconds == pytest.approx(60.0, rel=0.1), (
        "the waiting times of the jobs are wrong"
    )
    with pytest.raises(NotFound, match="has no task yet"):
        await get_timeline(wms.context, uuid4())


async def test_timeline_of_a_running_chain_includes_running_jobs(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(), jobs=3)
    pilot = await wms.add_pilot(name="farm-1")
    [job, leased_job] = await wms.lease(pilot, 2)
    await wms.send_heartbeat(pilot, running=[job], waiting=[leased_job])
    await wms.execute("UPDATE tasks SET created_at = created_at - interval '60 seconds'")
    await wms.execute("UPDATE jobs SET ready_at = now() - interval '50 seconds'")
    await wms.backdate_start(job, seconds=30)
    timeline = await get_timeline(wms.context, task.chain_uid)
    assert [lane.name for lane in timeline.lanes] == ["farm-1"]
    assert run_seconds(timeline, 0, "decode") == pytest.approx(30.0, rel=0.1), (
        "a job leased ahead counts as running"
    )
    assert timeline.queues[0][-1] >= 1
    assert max(timeline.queues[0]) == 3


async def test_ttl_cache_keeps_recent_values_up_to_its_limit() -> None:
    cache: TtlCache[int] = TtlCache(limit=2)
    calls: list[int] = []

    async def count() -> int:
        calls.append(len(calls))
        return calls[-1]

    assert [await cache.get("a", count) for _ in range(3)] == [0, 0, 0]
    assert [await cache.get(key, count) for key in ("b", "c", "a")] == [1, 2, 3], (
        "the oldest value was not dropped"
    )


async def test_times_are_counted_by_indexes(wms: WmsFixture) -> None:
    """Only the jobs of the task are read, and no jobs for a period."""
    await wms.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    tasks = [await wms.add_task(make_task(), jobs=1000) for _ in range(16)]
    for _ in tasks[:4]:
        pilot = await wms.add_pilot()
        await wms.finish(pilot, *await wms.lease(pilot, 1000))
    await wms.execute("ANALYZE")
    now = datetime.now(UTC)
    assert "Seq Scan" not in list_job_scans(
        await explain_query(wms, SELECT_TIMES, tasks[0].uid, now)
    )
    for sql in (SELECT_BUSY, SELECT_QUEUES):
        tree = await explain_query(wms, sql, [tasks[0].uid], now - timedelta(hours=1), 10.0, 240)
        assert "Seq Scan" not in list_job_scans(tree)
    assert not list_job_scans(await explain_query(wms, SELECT_UNCOUNTED, 50))
    tree = await explain_query(
        wms, SELECT_OF_PERIOD, None, now - timedelta(hours=1), now, 100, ["a"]
    )
    assert not list_job_scans(tree)
    assert list_nodes(tree)
