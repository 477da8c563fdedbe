"""Read a chain's time line: what each pilot did when, and how many jobs waited."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import accumulate
from uuid import UUID

from sluice.contracts.common.problems import NotFound
from sluice.contracts.jobs.times import Lane, Timeline
from sluice.servicekit.database import Connection
from wms.db.times.timelines import (
    Bins,
    ChainRange,
    busy_by_pilot,
    names_of,
    queue_changes,
    range_of,
)
from wms.usecases.context import WmsContext

#: Bins of a time line, and pilots that have their own lane.
BINS, LANES = 240, 30


def no_task_of_chain(chain: UUID) -> NotFound:
    """Return the error that the chain has no task."""
    return NotFound(f"chain {chain} has no task yet, so there is nothing to show", chain=chain)


async def read_timeline(context: WmsContext, chain: UUID) -> Timeline:
    """Return the time line of a chain, from a cache of recent counts.

    Raises:
        NotFound: The chain has no task.
    """
    async with context.database.connection() as connection:
        found = await range_of(connection, chain)
        if found is None:
            raise no_task_of_chain(chain)

        async def count() -> Timeline:
            return await _count(connection, found)

        return await context.timelines.get(chain, count)


async def _count(connection: Connection, chain: ChainRange) -> Timeline:
    end = max(chain.ended or chain.now, chain.begin + timedelta(milliseconds=BINS))
    bins = Bins(chain.begin, (end - chain.begin).total_seconds() / BINS, BINS)
    steps = list(dict.fromkeys(chain.steps))
    step_of = {task: steps.index(step) for task, step in zip(chain.tasks, chain.steps, strict=True)}
    busy = await busy_by_pilot(connection, chain.tasks, bins)
    lanes: dict[UUID, list[list[float]]] = {}
    for pilot, cells in busy.items():
        rows = lanes[pilot] = [[0.0] * BINS for _ in steps]
        for task, place, share in cells:
            rows[step_of[task]][place] += share
    grown = [[0] * BINS for _ in steps]
    for task, place, change in await queue_changes(connection, chain.tasks, bins):
        grown[step_of[task]][place] += change
    names = await names_of(connection, list(lanes))
    return Timeline(
        begin=chain.begin,
        end=end,
        bins=BINS,
        steps=steps,
        lanes=_lanes(lanes, names),
        queues=[[max(waiting, 0) for waiting in accumulate(row)] for row in grown],
    )


def _lanes(lanes: dict[UUID, list[list[float]]], names: dict[UUID, str]) -> list[Lane]:
    """Return the lanes of the busiest pilots by name, and one lane of all others."""
    by_work = sorted(lanes, key=lambda pilot: -sum(map(sum, lanes[pilot])))
    shown, others = by_work[:LANES], by_work[LANES:]
    found = [
        Lane(pilot_uid=pilot, name=names.get(pilot, str(pilot)), busy=_rounded(lanes[pilot]))
        for pilot in sorted(shown, key=lambda pilot: (names.get(pilot, ""), pilot))
    ]
    if others:
        added = [
            [sum(cells) for cells in zip(*rows, strict=True)]
            for rows in zip(*(lanes[pilot] for pilot in others), strict=True)
        ]
        found.append(Lane(name=f"{len(others)} others", busy=_rounded(added)))
    return found


def _rounded(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    return [[round(share, 3) for share in row] for row in rows]
