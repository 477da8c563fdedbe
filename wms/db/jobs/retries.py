"""Statements for retrying jobs on request."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.tasks import PEOPLE
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.tasks.tasks import IS_HUMAN_TASK

_RESET_JOBS = statement(f"""
-- Reset failed and quarantined jobs of the task with numbers above $3. $2 restricts this to one
-- job. Jobs of human tasks become asked. The rows have the old state and the class of error. Jobs
-- that pilot $4, the service for human tasks, refused stay failed, because it has seen their file.
WITH troubled AS (
    SELECT id, state, error_class FROM jobs
    WHERE task_uid = $1 AND state IN ('{{job.FAILED}}', '{{job.QUARANTINED}}')
        AND ($2::bigint IS NULL OR id = $2) AND seq > $3
        AND NOT EXISTS (SELECT FROM attempts WHERE job_id = jobs.id AND pilot = $4)
), moved AS (
    UPDATE jobs AS j SET
        state = CASE WHEN (SELECT {IS_HUMAN_TASK} FROM tasks WHERE uid = $1)
            THEN '{{job.ASKED}}' ELSE '{{job.READY}}' END,
        failures = 0, losses = 0, not_before = now(), ended_at = NULL, pilot = NULL
    FROM troubled AS t WHERE j.id = t.id AND j.state = t.state
)
SELECT state, error_class FROM troubled
""")

_COUNT_RESET = f"""
UPDATE tasks SET
    failed = failed - $2, quarantined = quarantined - $3, errors = $4,
    ready = ready + CASE WHEN {IS_HUMAN_TASK} THEN 0 ELSE $2::bigint + $3 END,
    asked = asked + CASE WHEN {IS_HUMAN_TASK} THEN $2::bigint + $3 ELSE 0 END
WHERE uid = $1
"""

_SELECT_TASK_OF_JOB = "SELECT task_uid FROM jobs WHERE id = $1"


@dataclass(frozen=True, slots=True)
class ResetJob:
    """A job that is retried: its state before, and the error class of its last attempt."""

    state: JobState
    error_class: str | None


async def get_task_uid(connection: Connection, job: int) -> UUID:
    """Return the task of the job.

    Raises:
        NotFound: There is no such job.
    """
    uid: UUID | None = await connection.fetchval(_SELECT_TASK_OF_JOB, job)
    if uid is None:
        raise NotFound(f"no job {job}", job=job)
    return uid


async def reset_jobs(
    connection: Connection, task: UUID, *, job: int | None, above: int
) -> list[ResetJob]:
    """Make failed and quarantined jobs of the task ready again, or ask people again.

    The caller must hold the task's lock. Jobs with numbers above ``above`` are reset, or of these
    only ``job`` if it is given.
    """
    rows = await connection.fetch(_RESET_JOBS, task, job, above, PEOPLE)
    return [ResetJob(JobState(row["state"]), row["error_class"]) for row in rows]


async def count_reset(
    connection: Connection, task: UUID, *, failed: int, quarantined: int, errors: Mapping[str, int]
) -> None:
    """Update the task's counters for jobs that were reset.

    ``errors`` are the counts of errors that remain.
    """
    await connection.execute(_COUNT_RESET, task, failed, quarantined, errors)
