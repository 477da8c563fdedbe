"""Statements on how long jobs waited and ran.

The jobs of an ended task are counted once, and the result is kept with the task. Times of chains
and templates are sums over tasks, never over jobs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.domain.times import (
    BINS_PER_OCTAVE,
    MIN_SECONDS,
    Samples,
    TimeKind,
    parse_sample,
    read_samples,
)

#: Timeout in seconds for counting the jobs of one task.
_COUNT_TIMEOUT = 120.0

SELECT_TIMES = statement(f"""
-- Finished jobs of task $1, whose chain began at $2, by kind of time and size. Uses the index
-- jobs_settled. Only the sizes are sorted and kept.
SELECT m.kind,
    CASE WHEN m.seconds <= {MIN_SECONDS} THEN 0
        ELSE 1 + floor({BINS_PER_OCTAVE} * ln(m.seconds / {MIN_SECONDS}) / ln(2::float8))::int
    END AS size,
    count(*) AS count, sum(m.seconds) AS total, sum(m.seconds * m.seconds) AS squares,
    min(m.seconds) AS least, max(m.seconds) AS most
FROM (
    SELECT seconds::float8 AS ran, extract(epoch FROM ended_at - ready_at)::float8 AS stayed,
        extract(epoch FROM ended_at - $2)::float8 AS turnaround
    FROM jobs
    WHERE task_uid = $1 AND state = '{{job.FINISHED}}' AND attempt > 0 AND ready_at IS NOT NULL
) AS j CROSS JOIN LATERAL (VALUES
    ('{TimeKind.WORKING}', ran), ('{TimeKind.WAITING}', greatest(stayed - ran, 0)),
    ('{TimeKind.TURNAROUND}', greatest(turnaround, 0))) AS m (kind, seconds)
GROUP BY 1, 2
""")

_TASK = """t.uid, t.chain_uid, t.step, t.finished, t.timed, t.created_at, t.ended_at, t.times,
    t.total - t.finished - t.failed - t.canceled AS open"""

_SELECT_OF_CHAINS = f"""
-- Uses the index tasks_by_chain.
SELECT {_TASK} FROM tasks AS t
WHERE chain_uid = ANY($1::uuid[]) AND ($2::text[] IS NULL OR owner_group = ANY($2))
ORDER BY created_at, uid
"""

SELECT_OF_PERIOD = f"""
-- The newest $4 tasks of a template (NULL: of all) in a period. Uses the index tasks_created.
SELECT * FROM (
    SELECT {_TASK} FROM tasks AS t
    WHERE created_at >= $2 AND created_at < $3 AND ($1::text IS NULL OR template = $1)
        AND ($5::text[] IS NULL OR owner_group = ANY($5))
    ORDER BY created_at DESC LIMIT $4
) AS newest ORDER BY created_at, uid
"""

SELECT_UNCOUNTED = """
-- Ended tasks whose jobs are not counted yet. Tasks without known times can be skipped. Uses the
-- index tasks_untimed.
SELECT uid, chain_uid, timed > 0 AS is_timed FROM tasks
WHERE ended_at IS NOT NULL AND times IS NULL ORDER BY ended_at LIMIT $1
"""

_SET_TIMES = """
-- The first instance that has counted writes the times. Jobs of an ended task never change.
UPDATE tasks SET times = $2 WHERE uid = $1 AND ended_at IS NOT NULL AND times IS NULL
"""

_SELECT_BEGIN = "SELECT min(created_at) FROM tasks WHERE chain_uid = $1"


@dataclass(frozen=True, slots=True)
class TimedTask:
    """A task with the times of its jobs.

    Attributes:
        open: Number of jobs that have not ended.
        times: None if they have not been counted yet.
    """

    uid: UUID
    chain_uid: UUID
    step: str
    finished: int
    timed: int
    open: int
    created_at: datetime
    ended_at: datetime | None
    times: Samples | None


@dataclass(frozen=True, slots=True)
class TimesPeriod:
    """A period of time, of one template or (None) of all templates."""

    template: str | None
    since: datetime
    until: datetime


async def list_tasks_of_chains(
    connection: Connection, chains: Sequence[UUID], visibility: Visibility = ALL
) -> list[TimedTask]:
    """Return the visible tasks of the chains in order of creation."""
    rows = await connection.fetch(_SELECT_OF_CHAINS, list(chains), visibility.names())
    return [_build_timed_task(row) for row in rows]


async def list_tasks_of_period(
    connection: Connection, period: TimesPeriod, *, limit: int, visibility: Visibility = ALL
) -> list[TimedTask]:
    """Return the newest tasks that were created in the period, in order of creation."""
    rows = await connection.fetch(
        SELECT_OF_PERIOD, period.template, period.since, period.until, limit, visibility.names()
    )
    return [_build_timed_task(row) for row in rows]


async def list_uncounted_tasks(
    connection: Connection, *, limit: int
) -> list[tuple[UUID, UUID, bool]]:
    """Return ended tasks without times: task, chain, and whether there is anything to count."""
    return [tuple(row) for row in await connection.fetch(SELECT_UNCOUNTED, limit)]


async def get_chain_begin(connection: Connection, chain: UUID) -> datetime:
    """Return when the first task of the chain was created."""
    begin: datetime = await connection.fetchval(_SELECT_BEGIN, chain)
    return begin


async def count_times(connection: Connection, task: UUID, *, begin: datetime) -> Samples:
    """Count the times of the task's finished jobs."""
    rows = await connection.fetch(SELECT_TIMES, task, begin, timeout=_COUNT_TIMEOUT)
    return read_samples([dict(row) for row in rows])


async def keep_times(connection: Connection, task: UUID, times: Mapping[TimeKind, Any]) -> None:
    """Store the times of an ended task, unless they are stored already."""
    stored = {kind.value: sample.to_json() for kind, sample in times.items()}
    await connection.execute(_SET_TIMES, task, stored)


def _build_timed_task(row: Any) -> TimedTask:
    times = row["times"]
    samples = (
        None if times is None else {TimeKind(kind): parse_sample(s) for kind, s in times.items()}
    )
    return TimedTask(**{**row, "times": samples})
