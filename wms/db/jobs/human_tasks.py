"""Statements on the jobs of human tasks.

State changes follow the lock rule of ``wms/db/tasks/tasks.py``.

The ids of one task's jobs become visible in rising order: the transaction that draws them holds the
lock of the task's row until it ends. A reader that pages by id therefore misses no job.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.common.states import JobState
from sluice.contracts.human_tasks.annotation import HumanJob
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import PEOPLE
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.jobs.attempts import JobInFlight

_SELECT_HUMAN_TASKS = """
-- Uses the index tasks_human.
SELECT uid, owner, owner_group, shared_inputs, asked FROM tasks
WHERE needs ? 'ask' AND ended_at IS NULL ORDER BY created_at, uid
"""

SELECT_UNANSWERED_JOBS = statement("""
-- `id + 0` makes the planner use the index jobs_asked instead of the primary key, which has the
-- jobs of all tasks.
SELECT id, seq, inputs FROM jobs
WHERE task_uid = $1 AND state = '{job.ASKED}' AND id + 0 > $2 ORDER BY id + 0 LIMIT $3
""")

_SELECT_OF_TASK = "SELECT id FROM jobs WHERE id = ANY($1::bigint[]) AND task_uid = $2"

_DRAW_ATTEMPTS = statement("""
-- An answer counts as an attempt like any other. Its number is drawn when it ends.
UPDATE jobs SET attempt = attempt + 1, not_before = now()
WHERE id = ANY($1::bigint[]) AND task_uid = $2 AND state = '{job.ASKED}'
RETURNING id, task_uid, seq, attempt, failures, losses, inputs, now() AS leased_at
""")

_SELECT_ANSWERED = statement("""
SELECT job_id FROM attempts
WHERE job_id = ANY($1::bigint[]) AND pilot = $2 AND outcome = '{outcome.FINISHED}'
""")


@dataclass(frozen=True, slots=True)
class HumanTaskRow:
    """A live human task.

    Attributes:
        shared: Inputs that all its jobs get.
        unanswered: Number of jobs that wait for an answer.
    """

    uid: UUID
    owner: str | None
    group: str
    shared: Sequence[InputFile]
    unanswered: int


async def list_live_human_tasks(connection: Connection) -> list[HumanTaskRow]:
    """Return the live human tasks, oldest first."""
    return [
        HumanTaskRow(
            row["uid"],
            row["owner"],
            row["owner_group"],
            [InputFile.model_validate(file) for file in row["shared_inputs"] or ()],
            row["asked"],
        )
        for row in await connection.fetch(_SELECT_HUMAN_TASKS)
    ]


async def list_jobs_to_answer(
    connection: Connection, task: UUID, *, after: int, limit: int
) -> list[HumanJob]:
    """Return the jobs of a task that wait for an answer and have an id above ``after``, by id."""
    return [
        HumanJob(id=row["id"], seq=row["seq"], input=InputFile.model_validate(row["inputs"][0]))
        for row in await connection.fetch(SELECT_UNANSWERED_JOBS, task, after, limit)
    ]


async def list_job_ids(connection: Connection, task: UUID, jobs: Sequence[int]) -> set[int]:
    """Return those of the given job ids that belong to the task, whatever their states."""
    return {row["id"] for row in await connection.fetch(_SELECT_OF_TASK, list(jobs), task)}


async def draw_attempts(
    connection: Connection, task: UUID, jobs: Sequence[int]
) -> dict[int, JobInFlight]:
    """Open an attempt by people at each of the jobs that still waits for an answer.

    The caller must hold the task's lock and end the attempts in the same transaction.

    Returns:
        The jobs with their attempts, by job id.
    """
    rows: list[Any] = await connection.fetch(_DRAW_ATTEMPTS, list(jobs), task)
    return {
        row["id"]: JobInFlight(
            **row, state=JobState.ASKED, pilot=PEOPLE, ram=None, gpu_memory=None, started_at=None
        )
        for row in rows
    }


async def list_answered_jobs(connection: Connection, jobs: Sequence[int]) -> set[int]:
    """Return those of the jobs that people have answered."""
    rows = await connection.fetch(_SELECT_ANSWERED, list(jobs), PEOPLE)
    return {row["job_id"] for row in rows}
