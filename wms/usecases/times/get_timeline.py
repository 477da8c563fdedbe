"""Get a chain's time line: what each pilot did when, and how many jobs waited."""

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
    count_busy_by_pilot,
    count_queue_changes,
    find_chain_range,
    list_pilot_names,
)
from wms.usecases.context import WmsContext

#: Bins of a time line, and pilots that have their own lane.
BINS, LANES = 240, 30


def create_no_task_of_chain(chain: UUID) -> NotFound:
    """Return the error that the chain has no task."""
    return NotFound(f"chain {chain} has no task yet, so there is nothing to show", chain=chain)


async def get_timeline(context: WmsContext, chain: UUID) -> Timeline:
    """Return the time line of a chain, from a cache of recent counts.

    Raises:
        NotFound: The chain has no task.
    """
    async with context.database.connection() as connection:
        chain_range = await find_chain_range(connection, chain)
        if chain_range is None:
            raise create_no_task_of_chain(chain)

        async def count() -> Timeline:
            return await _build_timeline(connection, chain_range)

        return await context.timelines.get(chain, count)


async def _build_timeline(connection: Connection, chain: ChainRange) -> Timeline:
    end = max(chain.ended or chain.now, chain.begin + timedelta(milliseconds=BINS))
    bins = Bins(chain.begin, (end - chain.begin).total_seconds() / BINS, BINS)
    steps = list(dict.fromkeys(chain.steps))
    step_numbers = {
        task: steps.index(step) for task, step in zip(chain.tasks, chain.steps, strict=True)
    }
    busy = await count_busy_by_pilot(connection, chain.tasks, bins)
    lanes: dict[UUID, list[list[float]]] = {}
    for pilot, cells in busy.items():
        rows = lanes[pilot] = [[0.0] * BINS for _ in steps]
        for task, place, share in cells:
            rows[step_numbers[task]][place] += share
    changes = [[0] * BINS for _ in steps]
    for task, place, change in await count_queue_changes(connection, chain.tasks, bins):
        changes[step_numbers[task]][place] += change
    names = await list_pilot_names(connection, list(lanes))
    return Timeline(
        begin=chain.begin,
        end=end,
        bins=BINS,
        steps=steps,
        lanes=_build_lanes(lanes, names),
        queues=[[max(waiting, 0) for waiting in accumulate(row)] for row in changes],
    )


def _build_lanes(lanes: dict[UUID, list[list[float]]], names: dict[UUID, str]) -> list[Lane]:
    """Return the lanes of the busiest pilots by name, and one lane of all others."""
    by_work = sorted(lanes, key=lambda pilot: -sum(map(sum, lanes[pilot])))
    own_lanes, others = by_work[:LANES], by_work[LANES:]
    result = [
        Lane(pilot_uid=pilot, name=names.get(pilot, str(pilot)), busy=_round_rows(lanes[pilot]))
        for pilot in sorted(own_lanes, key=lambda pilot: (names.get(pilot, ""), pilot))
    ]
    if others:
        sums = [
            [sum(cells) for cells in zip(*rows, strict=True)]
            for rows in zip(*(lanes[pilot] for pilot in others), strict=True)
        ]
        result.append(Lane(name=f"{len(others)} others", busy=_round_rows(sums)))
    return result


def _round_rows(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    return [[round(share, 3) for share in row] for row in rows]
