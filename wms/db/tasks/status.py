"""Read-only statements on tasks and jobs for display."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import ErrorClass, JobState, TaskState
from sluice.contracts.jobs.tasks import Attempt, Job, TaskStatus
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.jobs.in_flight import ATTEMPTS_IN_FLIGHT
from wms.domain.failure_text import format_failure

_STATUS = """
uid, chain_uid, step, template, state, mode, rank, total, ready, leased, running, finished, failed,
canceled, quarantined, asked, failed_attempts, created_at, started_at, ended_at, reason, errors,
killed,
owner, owner_group AS "group"
"""

JOB = """
id, task_uid, seq, state, attempt, error_class, message,
ARRAY(SELECT f->>'name' FROM jsonb_array_elements(inputs) AS f) AS inputs
"""

_SELECT_STATUS = f"""
SELECT {_STATUS} FROM tasks
WHERE uid = ANY($1::uuid[]) AND ($2::text[] IS NULL OR owner_group = ANY($2))
"""

_SELECT_LATEST = f"""
SELECT {_STATUS} FROM tasks
WHERE ($1::text IS NULL OR state = $1) AND ($3::text[] IS NULL OR owner_group = ANY($3))
ORDER BY created_at DESC, uid LIMIT $2
"""

_SELECT_TROUBLED = statement(f"""
-- Uses the index tasks_live.
SELECT {_STATUS} FROM tasks
WHERE state NOT IN ('{{task.FINISHED}}', '{{task.FAILED}}', '{{task.CANCELED}}')
    AND (quarantined > 0 OR failed > 0) AND ($2::text[] IS NULL OR owner_group = ANY($2))
    AND ($3::text IS NULL OR state = $3) AND (cardinality($4::uuid[]) = 0 OR uid = ANY($4))
ORDER BY quarantined > 0 DESC, created_at DESC, uid LIMIT $1
""")

_SELECT_FIRST_FAILED = statement(f"""
-- For each task the first quarantined job, or else the first failed one. The states are literals,
-- so that the planner uses the partial index jobs_settled.
SELECT first.* FROM unnest($1::uuid[]) AS asked (uid) CROSS JOIN LATERAL (
    SELECT * FROM (SELECT {JOB} FROM jobs
        WHERE task_uid = asked.uid AND state = '{{job.QUARANTINED}}'
        ORDER BY seq LIMIT 1) AS quarantined
    UNION ALL
    SELECT * FROM (SELECT {JOB} FROM jobs
        WHERE task_uid = asked.uid AND state = '{{job.FAILED}}' ORDER BY seq LIMIT 1) AS failed
    LIMIT 1
) AS first
""")

_SELECT_JOB = f"SELECT {JOB} FROM jobs WHERE id = $1"

_SELECT_UNDER_WAY = statement(f"""
SELECT attempt, pilot, leased_at, started_at FROM ({ATTEMPTS_IN_FLIGHT}) AS in_flight
WHERE id = $1 ORDER BY attempt
""")

_SELECT_ATTEMPTS = """
SELECT attempt, pilot, leased_at, started_at, ended_at, outcome, exit_code, error_class, message,
    peak_memory, cpu_seconds, log_url
FROM attempts WHERE job_id = $1 ORDER BY attempt
"""

_SELECT_PILOT_NAMES = "SELECT uid, name FROM pilots WHERE uid = ANY($1::uuid[])"

_TASK_EXISTS = "SELECT 1 FROM tasks WHERE uid = $1"


def no_task(uid: UUID) -> NotFound:
    """Return the error that there is no such task."""
    return NotFound(f"no task {uid}", task=uid)


def no_job(job_id: int) -> NotFound:
    """Return the error that there is no such job."""
    return NotFound(f"no job {job_id}", job=job_id)


async def get_task_status(connection: Connection, uid: UUID) -> TaskStatus:
    """Return the status of a task.

    Raises:
        NotFound: There is no such task.
    """
    statuses = await list_task_statuses(connection, [uid])
    if not statuses:
        raise no_task(uid)
    return statuses[0]


async def list_task_statuses(
    connection: Connection,
    uids: Sequence[UUID],
    *,
    visibility: Visibility = ALL,
) -> list[TaskStatus]:
    """Return the status of those of ``uids`` that exist and are visible."""
    rows = await connection.fetch(_SELECT_STATUS, uids, visibility.names())
    return [TaskStatus.model_validate(dict(row)) for row in rows]


async def list_latest_tasks(
    connection: Connection,
    *,
    state: TaskState | None,
    limit: int,
    visibility: Visibility = ALL,
) -> list[TaskStatus]:
    """Return the status of the latest visible tasks, newest first."""
    rows = await connection.fetch(_SELECT_LATEST, state, limit, visibility.names())
    return [TaskStatus.model_validate(dict(row)) for row in rows]


async def list_troubled_tasks(
    connection: Connection,
    uids: Sequence[UUID],
    *,
    state: TaskState | None,
    limit: int,
    visibility: Visibility,
) -> list[TaskStatus]:
    """Return live tasks with jobs that failed permanently or are quarantined.

    Tasks with quarantined jobs come first, and the newest within each kind. ``reason`` names the
    first such job and its error. Without ``uids``, all tasks are searched.
    """
    rows = await connection.fetch(_SELECT_TROUBLED, limit, visibility.names(), state, uids)
    jobs = await connection.fetch(_SELECT_FIRST_FAILED, [row["uid"] for row in rows])
    reasons = {
        job["task_uid"]: format_failure(
            job["id"],
            job["inputs"],
            error=job["error_class"] and ErrorClass(job["error_class"]),
            message=job["message"],
        )
        for job in jobs
    }
    return [
        TaskStatus.model_validate({**row, "reason": reasons.get(row["uid"], row["reason"])})
        for row in rows
    ]


async def require_task(connection: Connection, uid: UUID) -> None:
    """Check that the task exists.

    Raises:
        NotFound: There is no such task.
    """
    if await connection.fetchval(_TASK_EXISTS, uid) is None:
        raise no_task(uid)


async def get_job_with_attempts(connection: Connection, job_id: int) -> Job:
    """Return a job with its attempts; live attempts, at most two, come last.

    Raises:
        NotFound: There is no such job.
    """
    row = await connection.fetchrow(_SELECT_JOB, job_id)
    if row is None:
        raise no_job(job_id)
    attempts = [dict(past) for past in await connection.fetch(_SELECT_ATTEMPTS, job_id)]
    attempts += [dict(one) for one in await connection.fetch(_SELECT_UNDER_WAY, job_id)]
    uids = [attempt["pilot"] for attempt in attempts]
    pilots = await connection.fetch(_SELECT_PILOT_NAMES, uids)
    names = {pilot["uid"]: pilot["name"] for pilot in pilots}
    return build_job(
        row,
        attempts=[
            Attempt.model_validate(
                {
                    **{name: value for name, value in attempt.items() if name != "pilot"},
                    "pilot_uid": str(attempt["pilot"]),
                    "pilot_name": names.get(attempt["pilot"]),
                }
            )
            for attempt in attempts
        ],
    )


def build_job(row: Any, **further: Any) -> Job:
    """Return the job of a row, with further fields."""
    return Job(
        id=row["id"],
        task_uid=row["task_uid"],
        seq=row["seq"],
        state=JobState(row["state"]),
        inputs=row["inputs"],
        attempt=row["attempt"],
        error_class=row["error_class"],
        message=row["message"],
        **further,
    )
