"""Statements on what pilots did over time and how many jobs waited.

The database counts the jobs into bins, so the result does not grow with the number of jobs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

#: Timeout in seconds for counting the jobs of a chain.
_COUNT_TIMEOUT = 120.0

_SELECT_RANGE = """
-- From the first task of chain $1 to the end of the last, or to now.
SELECT min(created_at) AS begin, CASE WHEN bool_and(ended_at IS NOT NULL) THEN max(ended_at) END
    AS ended, now() AS now, array_agg(step ORDER BY created_at, uid) AS steps,
    array_agg(uid ORDER BY created_at, uid) AS tasks
FROM tasks WHERE chain_uid = $1
"""

#: Subquery: the jobs of the tasks $1 and when they ran, in bins of $3 seconds from $2 on. The first
#: part covers the current or last attempts; the others cover earlier and duplicate attempts.
_RAN = """
    SELECT j.task_uid, j.pilot,
        extract(epoch FROM coalesce(j.ended_at - make_interval(secs => j.seconds), j.started_at,
            j.leased_at) - $2)::float8 / $3 AS first,
        extract(epoch FROM coalesce(j.ended_at, now()) - $2)::float8 / $3 AS last
    FROM jobs AS j
    WHERE j.task_uid = ANY($1::uuid[]) AND j.pilot IS NOT NULL AND j.attempt > 0
        AND j.state <> '{job.LEASED}'
    UNION ALL SELECT j.task_uid, a.pilot,
        extract(epoch FROM a.started_at - $2)::float8 / $3,
        extract(epoch FROM a.ended_at - $2)::float8 / $3
    FROM jobs AS j JOIN attempts AS a ON a.job_id = j.id AND a.attempt <> j.attempt
    WHERE j.task_uid = ANY($1::uuid[]) AND a.started_at IS NOT NULL
    UNION ALL SELECT s.task_uid, s.pilot,
        extract(epoch FROM s.started_at - $2)::float8 / $3,
        extract(epoch FROM now() - $2)::float8 / $3
    FROM duplicate_attempts AS s
    WHERE s.task_uid = ANY($1::uuid[]) AND s.lease_until IS NOT NULL AND s.started_at IS NOT NULL
"""

SELECT_BUSY = statement(f"""
-- Uses the index jobs_task_seq.
SELECT task_uid, pilot, bin,
    sum(least(last, bin + 1) - greatest(first, bin)) AS busy
FROM ({_RAN}) AS ran CROSS JOIN LATERAL generate_series(
    greatest(floor(first)::int, 0), least(greatest(ceil(last)::int - 1, floor(first)::int), $4 - 1)
) AS bin
WHERE last > first AND first < $4
GROUP BY task_uid, pilot, bin
""")

SELECT_QUEUES = statement("""
-- The change of the queue of tasks $1 in each of $4 bins. A job waits from the time when its input
-- was there until its last attempt began or it was canceled.
SELECT task_uid, least(greatest(floor(extract(epoch FROM at - $2)::float8 / $3), 0), $4 - 1)::int
    AS bin, sum(change) AS change
FROM jobs AS j CROSS JOIN LATERAL (VALUES
    (ready_at, 1),
    (CASE WHEN state IN ('{job.READY}', '{job.QUARANTINED}') THEN NULL
        WHEN state = '{job.FINISHED}' THEN ended_at - make_interval(secs => seconds)
        ELSE coalesce(started_at, leased_at, ended_at) END, -1)) AS c (at, change)
WHERE task_uid = ANY($1::uuid[]) AND ready_at IS NOT NULL AND at IS NOT NULL
    AND (attempt > 0 OR state <> '{job.FINISHED}')
GROUP BY 1, 2
""")

_SELECT_NAMES = "SELECT uid, name FROM pilots WHERE uid = ANY($1::uuid[])"


@dataclass(frozen=True, slots=True)
class ChainRange:
    """The time range of a chain.

    Attributes:
        ended: None if the chain continues.
        steps: Steps of ``tasks``, in the order in which they were created.
    """

    begin: datetime
    ended: datetime | None
    now: datetime
    steps: Sequence[str]
    tasks: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of equal length.

    Attributes:
        begin: The begin of the first bin.
        seconds: The length of a bin.
        number: The number of bins.
    """

    begin: datetime
    seconds: float
    number: int


async def find_chain_range(connection: Connection, chain: UUID) -> ChainRange | None:
    """Return the time range of the chain, or None if it has no task."""
    row = await connection.fetchrow(_SELECT_RANGE, chain)
    return None if row is None or row["begin"] is None else ChainRange(**row)


async def count_busy_by_pilot(
    connection: Connection, tasks: Sequence[UUID], bins: Bins
) -> dict[UUID, list[tuple[UUID, int, float]]]:
    """Return for each pilot tasks, bins, and the mean number of jobs that it ran in the bin."""
    busy: dict[UUID, list[tuple[UUID, int, float]]] = {}
    for row in await _fetch_bins(connection, SELECT_BUSY, tasks, bins):
        busy.setdefault(row["pilot"], []).append((row["task_uid"], row["bin"], row["busy"]))
    return busy


async def count_queue_changes(
    connection: Connection, tasks: Sequence[UUID], bins: Bins
) -> list[tuple[UUID, int, int]]:
    """Return tasks, bins, and by how much the task's queue grew in the bin."""
    rows = await _fetch_bins(connection, SELECT_QUEUES, tasks, bins)
    return [(row["task_uid"], row["bin"], int(row["change"])) for row in rows]


async def list_pilot_names(connection: Connection, pilots: Sequence[UUID]) -> dict[UUID, str]:
    """Return the names of pilots."""
    rows = await connection.fetch(_SELECT_NAMES, list(pilots))
    return {row["uid"]: row["name"] for row in rows}


async def _fetch_bins(
    connection: Connection, sql: str, tasks: Sequence[UUID], bins: Bins
) -> list[Any]:
    arguments = (list(tasks), bins.begin, bins.seconds, bins.number)
    rows: list[Any] = await connection.fetch(sql, *arguments, timeout=_COUNT_TIMEOUT)
    return rows
