"""Pages of a task's jobs (ADR 6).

Each order is read along its index from the end of the page before. So the cost does not depend on
the number of jobs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.common.problems import InvalidCursor, Unprocessable
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.tasks import JobOrder, JobPage
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.tasks.status import JOB, build_job

_ENDED = tuple(state for state in JobState if state.final)
_IN_FLIGHT = frozenset({JobState.LEASED, JobState.RUNNING})
_COLUMNS = f"{JOB}, pilot, started_at"

BY_SEQ = f"""
-- Uses the index jobs_task_seq.
SELECT {_COLUMNS}, seq::text AS place FROM jobs
WHERE task_uid = $1 AND seq > $2::bigint ORDER BY seq LIMIT $3
"""

#: The statements use the partial index jobs_settled, so the state is a literal.
BY_SEQ_SETTLED = {
    state: (
        f"""
SELECT {_COLUMNS}, seq::text AS place FROM jobs
WHERE task_uid = $1 AND state = '{state}' AND seq > $2::bigint ORDER BY seq LIMIT $3
"""
    )
    for state in (*_ENDED, JobState.QUARANTINED)
}

READY = statement(f"""
-- In the order of leasing: jobs that were never leased, then the others by the time when they are
-- due. Uses the index jobs_ready.
SELECT {_COLUMNS}, not_before::text || '/' || seq AS place FROM jobs
WHERE task_uid = $1 AND state = '{{job.READY}}'
    AND (not_before, seq) > ($2::text::timestamptz, $3::bigint)
ORDER BY not_before, seq LIMIT $4
""")

UNANSWERED = statement(f"""
-- In the order of creation. Uses the index jobs_asked.
SELECT {_COLUMNS}, id::text AS place FROM jobs
WHERE task_uid = $1 AND state = '{{job.ASKED}}' AND id + 0 > $2::bigint ORDER BY id + 0 LIMIT $3
""")

IN_FLIGHT = statement(f"""
-- There are at most a few for each slot of a pilot, found by the index jobs_in_flight.
WITH in_flight AS MATERIALIZED (
    SELECT * FROM jobs WHERE state IN ('{{job.LEASED}}', '{{job.RUNNING}}'))
SELECT {_COLUMNS}, seq::text AS place FROM in_flight
WHERE task_uid = $1 AND seq > $2::bigint AND state = $4 ORDER BY seq LIMIT $3
""")

_SELECT_LAST = """
-- The last ended attempts of jobs ($1, $2), and the names of their pilots. Without an ended
-- attempt, it is the name of the present pilot ($3).
SELECT n.id, p.name AS pilot_name, a.started_at, a.exit_code, a.peak_memory, a.cpu_seconds,
    extract(epoch FROM a.ended_at - a.started_at)::float8 AS seconds
FROM unnest($1::bigint[], $2::int[], $3::uuid[]) AS n(id, attempt, pilot)
LEFT JOIN attempts AS a ON a.job_id = n.id AND a.attempt = n.attempt
LEFT JOIN pilots AS p ON p.uid = coalesce(a.pilot, n.pilot)
"""


def _build_figure_statement(column: str, states: Sequence[JobState]) -> str:
    """Return the statement of a page with the greatest values of the column first.

    It reads a page of each state by its index and takes the first rows of them.
    """
    parts = [
        f"""
(SELECT {_COLUMNS}, {column}::float8 || '/' || seq AS place, {column} AS figure FROM jobs
WHERE task_uid = $1 AND state = '{state}' AND ({column}, seq) < ($2::real, $3::bigint)
ORDER BY {column} DESC, seq DESC LIMIT $4)
"""
        for state in states
    ]
    union = "UNION ALL".join(parts)
    return f"SELECT * FROM ({union}) AS found ORDER BY figure DESC, seq DESC LIMIT $4"


_FIGURES = {JobOrder.TIME: "seconds", JobOrder.MEMORY: "peak_memory"}
#: (order, state) → statement. State None means all jobs that have ended.
BY_FIGURE: dict[tuple[JobOrder, JobState | None], str] = {
    (order, state): _build_figure_statement(column, _ENDED if state is None else (state,))
    for order, column in _FIGURES.items()
    for state in (*_ENDED, None)
}


class UnsupportedOrder(Unprocessable):
    """The order needs values that jobs get when they end, and the state is not final."""

    def __init__(self, order: JobOrder, state: JobState) -> None:
        super().__init__(
            f"jobs are ordered by {order} once they have ended; these are {state}",
            state=state,
            sort=order,
        )


@dataclass(frozen=True, slots=True)
class JobQuery:
    """Which page of jobs to return.

    Attributes:
        state: The state of the jobs. None means all jobs, or all ended jobs in an order by time or
            memory.
        full: Include the last attempts.
    """

    state: JobState | None = None
    order: JobOrder = JobOrder.SEQ
    after: str | None = None
    limit: int = 1000
    full: bool = False


async def list_job_page(connection: Connection, uid: UUID, query: JobQuery) -> JobPage:
    """Return a page of the task's jobs.

    Raises:
        InvalidCursor: ``after`` is not a cursor of this order.
        UnsupportedOrder: The order does not apply to this state.
    """
    sql, place = _select_statement(query)
    rows = await connection.fetch(sql, uid, *place, query.limit + 1, *_list_extra_arguments(query))
    is_last, rows = len(rows) <= query.limit, rows[: query.limit]
    last = await _last_attempts(connection, rows) if query.full else {}
    jobs = [build_job(row, **last.get(row["id"], {})) for row in rows]
    return JobPage(jobs=jobs, after=None if is_last else rows[-1]["place"])


def _list_extra_arguments(query: JobQuery) -> list[str]:
    return (
        [query.state]
        if query.order is JobOrder.SEQ and query.state in _IN_FLIGHT and query.state
        else []
    )


def _select_statement(query: JobQuery) -> tuple[str, list[Any]]:
    """Return the statement and the arguments of the place where the page begins."""
    state, after = query.state, query.after
    if query.order is not JobOrder.SEQ:
        if (query.order, state) not in BY_FIGURE:
            raise UnsupportedOrder(query.order, state or JobState.READY)
        return BY_FIGURE[query.order, state], _figure_place(after)
    if state is JobState.READY:
        return READY, _ready_place(after)
    place = [-1 if not after else _parse_number(after, after)]
    if state is None:
        return BY_SEQ, place
    if state is JobState.ASKED:
        return UNANSWERED, place
    return (IN_FLIGHT if state in _IN_FLIGHT else BY_SEQ_SETTLED[state]), place


def _parse_number(digits: str, after: str) -> int:
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise InvalidCursor(after)
    return int(digits)


def _ready_place(after: str | None) -> list[Any]:
    if not after:
        return ["-infinity", -1]
    time, slash, seq = after.rpartition("/")
    # PostgreSQL rejects an invalid time (422).
    return [time if slash else "-infinity", _parse_number(seq, after)]


def _figure_place(after: str | None) -> list[Any]:
    if not after:
        return [math.inf, 0]
    figure, _, seq = after.rpartition("/")
    try:
        return [float(figure), _parse_number(seq, after)]
    except ValueError as error:
        raise InvalidCursor(after) from error


async def _last_attempts(connection: Connection, rows: Sequence[Any]) -> dict[int, dict[str, Any]]:
    """Return the fields of ``Job`` about its last attempt, by job id."""
    columns = ([row[key] for row in rows] for key in ("id", "attempt", "pilot"))
    start_times = {row["id"]: row["started_at"] for row in rows if row["state"] in _IN_FLIGHT}
    attempts_by_job = {
        row["id"]: dict(row) for row in await connection.fetch(_SELECT_LAST, *columns)
    }
    for uid, last in attempts_by_job.items():
        del last["id"]
        last["started_at"] = last["started_at"] or start_times.get(uid)
    return attempts_by_job
