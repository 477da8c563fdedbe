"""Statements that only read: what is shown of tasks and jobs."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sluice.contracts.problems import NotFound, Unprocessable
from sluice.contracts.states import JobState, TaskState
from sluice.contracts.tasks import Attempt, Job, JobPage, TaskStatus
from sluice.servicekit.database import Connection
from wms.db.statement import statement

_STATUS = """
uid, chain_uid, step, template, state, mode, rank, total, ready, leased, running, finished, failed, canceled, held,
failed_attempts, created_at, started_at, ended_at, reason, errors
"""

SELECT_STATUS = f"SELECT {_STATUS} FROM tasks WHERE uid = ANY($1::uuid[])"

SELECT_LATEST = f"""
SELECT {_STATUS} FROM tasks WHERE $1::text IS NULL OR state = $1 ORDER BY created_at DESC, uid LIMIT $2
"""

_JOB = """
id, task_uid, seq, state, attempt, error_class, message,
ARRAY(SELECT f->>'name' FROM jsonb_array_elements(inputs) AS f) AS inputs
"""

SELECT_JOBS = f"""
-- A page in order of seq, by the index jobs_task_seq.
SELECT {_JOB} FROM jobs WHERE task_uid = $1 AND seq > $2 AND ($3::text IS NULL OR state = $3) ORDER BY seq LIMIT $4
"""

SELECT_TROUBLED = statement(f"""
-- Failed or held jobs, which are few, have an index of their own.
SELECT {_JOB} FROM jobs
WHERE task_uid = $1 AND seq > $2 AND state IN ('{{job.FAILED}}', '{{job.HELD}}') AND state = $3 ORDER BY seq LIMIT $4
""")

SELECT_JOB = f"SELECT {_JOB}, pilot, leased_at, started_at FROM jobs WHERE id = $1"

SELECT_ATTEMPTS = """
SELECT attempt, pilot, leased_at, started_at, ended_at, outcome, exit_code, error_class, message,
    peak_memory, cpu_seconds, log_url
FROM attempts WHERE job_id = $1 ORDER BY attempt
"""

TASK_EXISTS = "SELECT 1 FROM tasks WHERE uid = $1"

_IN_FLIGHT = frozenset({JobState.LEASED, JobState.RUNNING})
_TROUBLED = frozenset({JobState.FAILED, JobState.HELD})


async def task_status(connection: Connection, uid: UUID) -> TaskStatus:
    """Raises ``NotFound``."""
    found = await task_statuses(connection, [uid])
    if not found:
        raise NotFound(f"no task {uid}", task=uid)
    return found[0]


async def task_statuses(connection: Connection, uids: Sequence[UUID]) -> list[TaskStatus]:
    """Those of ``uids`` that there are."""
    return [TaskStatus.model_validate(dict(row)) for row in await connection.fetch(SELECT_STATUS, uids)]


async def latest_tasks(connection: Connection, *, state: TaskState | None, limit: int) -> list[TaskStatus]:
    return [TaskStatus.model_validate(dict(row)) for row in await connection.fetch(SELECT_LATEST, state, limit)]


async def job_page(connection: Connection, uid: UUID, *, state: JobState | None, after: str | None, limit: int) -> JobPage:
    """Raises ``NotFound`` for the task, ``Unprocessable`` for a cursor that is none."""
    if await connection.fetchval(TASK_EXISTS, uid) is None:
        raise NotFound(f"no task {uid}", task=uid)
    if after is not None and not after.isdecimal():
        raise Unprocessable(f"after={after!r} is not the 'next' of an earlier page", after=after)
    query = SELECT_TROUBLED if state in _TROUBLED else SELECT_JOBS
    rows = await connection.fetch(query, uid, int(after) if after else -1, state, limit + 1)
    jobs = [_job(row) for row in rows[:limit]]
    return JobPage(jobs=jobs, next=str(jobs[-1].seq) if len(rows) > limit else None)


async def job_with_attempts(connection: Connection, job_id: int) -> Job:
    """The attempt that is under way comes last. Raises ``NotFound``."""
    row = await connection.fetchrow(SELECT_JOB, job_id)
    if row is None:
        raise NotFound(f"no job {job_id}", job=job_id)
    attempts = [
        Attempt.model_validate({**past, "pilot": str(past["pilot"])}) for past in await connection.fetch(SELECT_ATTEMPTS, job_id)
    ]
    if JobState(row["state"]) in _IN_FLIGHT:
        attempts.append(
            Attempt(attempt=row["attempt"], pilot=str(row["pilot"]), leased_at=row["leased_at"], started_at=row["started_at"])
        )
    return _job(row, attempts)


def _job(row: Any, attempts: Sequence[Attempt] = ()) -> Job:
    return Job(
        id=row["id"],
        task_uid=row["task_uid"],
        seq=row["seq"],
        state=JobState(row["state"]),
        inputs=row["inputs"],
        attempt=row["attempt"],
        error_class=row["error_class"],
        message=row["message"],
        attempts=list(attempts),
    )
