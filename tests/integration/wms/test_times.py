"""How long jobs waited and ran: of chains, live and afterwards, and of periods; and over time."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from sluice.contracts.problems import NotFound
from sluice.contracts.tasks import Task
from sluice.contracts.times import StepTimes, Timeline, WorkTimes
from tests.integration.wms.stage import Stage, make_task
from tests.integration.wms.test_query_plans import nodes, plan, scans
from wms.db.timelines import SELECT_BUSY, SELECT_QUEUES
from wms.db.times import SELECT_OF_PERIOD, SELECT_TIMES, SELECT_UNCOUNTED, TimesPeriod
from wms.usecases.count_times import count_ended_tasks
from wms.usecases.read_timeline import read_timeline
from wms.usecases.read_times import read_chain_times, read_period_times
from wms.usecases.ttl_cache import TtlCache

#: A chain of two steps: what its jobs waited and ran, in seconds. It began 100 s before they were
#: ready.
LAYOUT = [(10.0, 2.0), (20.0, 4.0), (30.0, 6.0)]
MERGE = [(5.0, 50.0)]


async def ran(stage: Stage, task: Task, times: list[tuple[float, float]]) -> None:
    """Jobs of the task that a pilot finished, with these times, by the statements of the product;
    then put into the past."""
    pilot = await stage.add_pilot()
    jobs = await stage.lease(pilot, len(times))
    await stage.finish(pilot, *jobs)
    for job, (waited, worked) in zip(jobs, times, strict=True):
        await stage.execute(
            """UPDATE jobs SET seconds = $2, ready_at = ended_at - make_interval(secs => $3)
            WHERE id = $1""",
            job.id,
            worked,
            waited + worked,
        )


async def a_chain(stage: Stage) -> UUID:
    chain = uuid4()
    for step, times in (("layout", LAYOUT), ("merge", MERGE)):
        task = make_task(step=step, template="ocr", chain_uid=chain)
        await stage.add_task(task, jobs=len(times))
        await ran(stage, task, times)
    await stage.execute(
        "UPDATE tasks SET created_at = created_at - interval '100 seconds' WHERE chain_uid = $1",
        chain,
    )
    return chain


def by_name(found: WorkTimes) -> dict[str, StepTimes]:
    return {step.step: step for step in found.steps}


async def test_times_of_a_chain_by_step_and_in_all(stage: Stage) -> None:
    """The same before its jobs are counted for good, and after."""
    chain = await a_chain(stage)
    live = await read_chain_times(stage.context, [chain])
    assert live.uncounted == 0, "they were counted for the one who asked"
    assert not await count_ended_tasks(stage.context)
    kept = await read_chain_times(stage.context, [chain])
    assert kept == live
    assert [step.step for step in kept.steps] == ["layout", "merge"]
    layout = by_name(kept)["layout"]
    assert layout.working is not None
    assert layout.waiting is not None
    assert (layout.working.count, layout.working.least, layout.working.most) == (3, 2.0, 6.0)
    assert layout.working.mean == pytest.approx(4.0)
    assert layout.waiting.mean == pytest.approx(20.0)
    assert layout.waiting.median == pytest.approx(20.0, rel=0.06)
    assert kept.working == pytest.approx(54.0)
    assert kept.waiting == pytest.approx(25.0)
    assert kept.passage is not None
    assert kept.passage.mean == pytest.approx(100.0, abs=5)
    assert kept.chains is not None
    assert (kept.chains.count, round(kept.chains.mean, -1)) == (1, 100)


async def test_a_task_that_goes_on_is_counted_as_far_as_it_is(stage: Stage) -> None:
    task = await stage.add_task(make_task(step="layout"), jobs=5)
    await ran(stage, task, LAYOUT)
    found = await read_chain_times(stage.context, [task.chain_uid])
    [step] = found.steps
    assert (step.finished, step.open, step.working is not None) == (3, 2, True)
    assert step.working is not None
    assert step.working.count == 3
    assert found.chains is None
    await count_ended_tasks(stage.context)
    async with stage.database.connection() as connection:
        kept = await connection.fetchval("SELECT times FROM tasks WHERE uid = $1", task.uid)
    assert kept is None, "it would say less than there is, for ever"


async def test_what_ran_before_there_were_times_and_what_was_not_run_here_is_left_out(
    stage: Stage,
) -> None:
    task = await stage.add_task(make_task(), jobs=3)
    await ran(stage, task, LAYOUT)
    await stage.execute("UPDATE jobs SET ready_at = NULL WHERE seq = 0")
    await stage.execute("UPDATE jobs SET attempt = 0, not_before = '-infinity' WHERE seq = 1")
    await count_ended_tasks(stage.context)
    [step] = (await read_chain_times(stage.context, [task.chain_uid])).steps
    assert step.finished == 3
    assert step.working is not None
    assert (step.working.count, step.working.mean) == (1, 6.0)


async def test_times_of_a_template_in_a_period(stage: Stage, second: Stage) -> None:
    """Added up over its chains; by several instances each task is counted once."""
    for _ in range(2):
        await a_chain(stage)
    other = await stage.add_task(make_task(template="maps"), jobs=1)
    await ran(stage, other, MERGE)
    now = datetime.now(UTC)
    period = TimesPeriod("ocr", now - timedelta(hours=1), now + timedelta(hours=1))
    assert (await read_period_times(stage.context, period)).uncounted == 4
    for instance in (stage, second):
        await count_ended_tasks(instance.context)
    found = await read_period_times(stage.context, period)
    assert (found.uncounted, len(found.steps)) == (0, 2)
    layout = by_name(found)["layout"]
    assert (layout.tasks, layout.finished) == (2, 6)
    assert layout.working is not None
    assert layout.working.count == 6
    assert layout.working.total == pytest.approx(24.0)
    assert found.chains is not None
    assert found.chains.count == 2
    earlier = TimesPeriod("ocr", now - timedelta(days=2), now - timedelta(days=1))
    assert (await read_period_times(stage.context, earlier)).steps == []


def share(found: Timeline, lane: int, step: str) -> float:
    """Jobs that ran in all, in seconds."""
    return sum(found.lanes[lane].busy[found.steps.index(step)]) * found.seconds


async def test_a_time_line_shows_who_did_what_and_how_many_waited(stage: Stage) -> None:
    chain = await a_chain(stage)
    found = await read_timeline(stage.context, chain)
    assert (found.steps, len(found.lanes)) == (["layout", "merge"], 2)
    worked = [sum(share(found, lane, step) for lane in range(2)) for step in found.steps]
    assert worked == [pytest.approx(12.0, rel=0.05), pytest.approx(50.0, rel=0.05)]
    layout = found.queues[0]
    assert (max(layout), layout[-1]) == (3, 0)
    assert sum(layout) * found.seconds == pytest.approx(60.0, rel=0.1), (
        "job seconds that they waited"
    )
    with pytest.raises(NotFound, match="has no task yet"):
        await read_timeline(stage.context, uuid4())


async def test_a_time_line_goes_on_while_its_chain_does(stage: Stage) -> None:
    task = await stage.add_task(make_task(), jobs=3)
    pilot = await stage.add_pilot(name="farm-1")
    [job, ahead] = await stage.lease(pilot, 2)
    await stage.beat(pilot, running=[job], waiting=[ahead])
    await stage.execute("UPDATE tasks SET created_at = created_at - interval '60 seconds'")
    await stage.execute("UPDATE jobs SET ready_at = now() - interval '50 seconds'")
    await stage.age(job, seconds=30)
    found = await read_timeline(stage.context, task.chain_uid)
    assert [lane.name for lane in found.lanes] == ["farm-1"]
    assert share(found, 0, "decode") == pytest.approx(30.0, rel=0.1), (
        "what it has ahead does not run"
    )
    assert found.queues[0][-1] >= 1
    assert max(found.queues[0]) == 3


async def test_what_was_counted_a_moment_ago_is_good_for_as_long_as_it_took() -> None:
    lately: TtlCache[int] = TtlCache(limit=2)
    counted: list[int] = []

    async def count() -> int:
        counted.append(len(counted))
        return counted[-1]

    assert [await lately.get("a", count) for _ in range(3)] == [0, 0, 0]
    assert [await lately.get(key, count) for key in ("b", "c", "a")] == [1, 2, 3], "a was put out"


async def test_jobs_are_counted_by_indexes(stage: Stage) -> None:
    """The jobs of one task, however many there are of others; and never those of a period."""
    await stage.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    tasks = [await stage.add_task(make_task(), jobs=1000) for _ in range(16)]
    for _ in tasks[:4]:
        pilot = await stage.add_pilot()
        await stage.finish(pilot, *await stage.lease(pilot, 1000))
    await stage.execute("ANALYZE")
    now = datetime.now(UTC)
    assert "Seq Scan" not in scans(await plan(stage, SELECT_TIMES, tasks[0].uid, now))
    for sql in (SELECT_BUSY, SELECT_QUEUES):
        tree = await plan(stage, sql, [tasks[0].uid], now - timedelta(hours=1), 10.0, 240)
        assert "Seq Scan" not in scans(tree)
    assert not scans(await plan(stage, SELECT_UNCOUNTED, 50))
    tree = await plan(stage, SELECT_OF_PERIOD, None, now - timedelta(hours=1), now, 100, ["a"])
    assert not scans(tree)
    assert nodes(tree)
