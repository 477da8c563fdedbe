"""Read how long work waits and runs, of chains or of what a template did in a period."""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.jobs.times import StepTimes, WorkTimes
from sluice.servicekit.database import Connection
from wms.db.times.times import (
    TimedTask,
    TimesPeriod,
    begin_of_chain,
    count_times,
    tasks_of_chains,
    tasks_of_period,
)
from wms.domain.times import Sample, Samples, TimeKind, add_all
from wms.usecases.context import WmsContext

#: Most tasks of a period that are summed, newest first.
MAX_TASKS = 20_000


async def read_chain_times(
    context: WmsContext, chains: Sequence[UUID], visibility: Visibility = ALL
) -> WorkTimes:
    """Return the times of chains; those of live tasks are counted now or a moment ago.

    Chains without tasks add nothing.
    """
    async with context.database.connection() as connection:
        tasks = await tasks_of_chains(connection, chains, visibility)
        live = {task.uid: await _live(context, connection, task) for task in tasks
                if task.times is None and task.timed}  # fmt: skip
    return _added_up(tasks, live)


async def read_period_times(
    context: WmsContext, period: TimesPeriod, visibility: Visibility = ALL
) -> WorkTimes:
    """Return the times of the newest ``MAX_TASKS`` tasks that were created in the period.

    Jobs of live and just ended tasks are not counted.
    """
    async with context.database.connection() as connection:
        tasks = await tasks_of_period(connection, period, limit=MAX_TASKS, visibility=visibility)
    return _added_up(tasks, {})


async def _live(context: WmsContext, connection: Connection, task: TimedTask) -> Samples:
    async def count() -> Samples:
        begin = await begin_of_chain(connection, task.chain_uid)
        return await count_times(connection, task.uid, begin=begin)

    return await context.live_times.get(task.uid, count)


def _added_up(tasks: Sequence[TimedTask], live: dict[UUID, Samples]) -> WorkTimes:
    samples: dict[str, Samples] = {}
    counts: dict[str, list[int]] = {}
    uncounted = 0
    for task in tasks:
        step = samples.setdefault(task.step, {})
        times = task.times if task.times is not None else live.get(task.uid)
        uncounted += times is None and task.ended_at is not None
        add_all(step, times or {})
        counted = counts.setdefault(task.step, [0, 0, 0])
        for place, number in enumerate((1, task.finished, task.open)):
            counted[place] += number
    return WorkTimes(
        steps=[_step(name, counts[name], found) for name, found in samples.items()],
        waiting=sum(_mean(found, TimeKind.WAITING) for found in samples.values()),
        working=sum(_mean(found, TimeKind.WORKING) for found in samples.values()),
        passage=max(
            (_of(found, TimeKind.PASSAGE) for found in samples.values()),
            key=lambda sample: sample.mean,
            default=Sample(),
        ).spread(),
        chains=_chains(tasks).spread(),
        uncounted=uncounted,
    )


def _of(samples: Samples, kind: TimeKind) -> Sample:
    return samples.get(kind, Sample())


def _mean(samples: Samples, kind: TimeKind) -> float:
    return _of(samples, kind).mean


def _step(name: str, counts: list[int], samples: Samples) -> StepTimes:
    tasks, finished, open_jobs = counts
    return StepTimes(
        step=name,
        tasks=tasks,
        finished=finished,
        open=open_jobs,
        waiting=_of(samples, TimeKind.WAITING).spread(),
        working=_of(samples, TimeKind.WORKING).spread(),
        passage=_of(samples, TimeKind.PASSAGE).spread(),
    )


def _chains(tasks: Sequence[TimedTask]) -> Sample:
    """Return the durations of ended chains, from their first task to the end of the last."""
    by_chain: dict[UUID, list[TimedTask]] = {}
    for task in tasks:
        by_chain.setdefault(task.chain_uid, []).append(task)
    found = Sample()
    for of_chain in by_chain.values():
        ends = [task.ended_at for task in of_chain if task.ended_at is not None]
        if len(ends) == len(of_chain):
            begin = min(task.created_at for task in of_chain)
            found.add_one((max(ends) - begin).total_seconds())
    return found
