"""Statements for tasks that take over finished jobs of an earlier task with the same work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.common.states import JobState
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.jobs.splitting import dump_files
from wms.db.tasks.tasks import IS_HUMAN_TASK
from wms.domain.splitting.grouping import JobDraft

_SAME_SHARED_INPUTS = """
-- Return whether the jobs of both tasks have the same shared inputs.
SELECT count(*) = 2 AND count(DISTINCT coalesce(shared_inputs, 'null')) = 1 FROM tasks
WHERE uid IN ($1, $2)
"""

_FINISHED_JOBS = statement("""
SELECT id, seq, inputs FROM jobs
WHERE task_uid = $1 AND seq BETWEEN $2 AND $3 AND state = '{job.FINISHED}'
""")

_COUNT_REUSED = f"""
-- Count $2 of the jobs just added (as ready or asked) as finished. $3 maps each data set to the
-- number of files registered for them.
UPDATE tasks SET
    ready = ready - CASE WHEN {IS_HUMAN_TASK} THEN 0 ELSE $2 END,
    asked = asked - CASE WHEN {IS_HUMAN_TASK} THEN $2 ELSE 0 END, finished = finished + $2,
    registered = registered || (
        SELECT coalesce(jsonb_object_agg(
            new.key, coalesce((registered->>new.key)::bigint, 0) + new.value::bigint), '{{}}')
        FROM jsonb_each_text($3) AS new)
WHERE uid = $1
"""

_SET_DOWNSTREAM_DUE = """
-- Downstream tasks that take files one by one find these files in the catalogue.
UPDATE flows SET due = true WHERE upstream_uid = $1 AND NOT due
"""


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """A finished job with its inputs as they are stored."""

    id: int
    inputs: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ReusedJob:
    """A job that is taken over from another.

    Attributes:
        source: The other job.
    """

    draft: JobDraft
    source: int


async def have_same_shared_inputs(connection: Connection, task: UUID, other: UUID) -> bool:
    """Return whether both tasks exist and give all their jobs the same shared inputs."""
    same: bool = await connection.fetchval(_SAME_SHARED_INPUTS, task, other)
    return same


async def list_finished_jobs(
    connection: Connection, task: UUID, *, first: int, last: int
) -> dict[int, FinishedJob]:
    """Return the finished jobs numbered from ``first`` to ``last``, by number."""
    rows = await connection.fetch(_FINISHED_JOBS, task, first, last)
    return {row["seq"]: FinishedJob(row["id"], row["inputs"]) for row in rows}


async def insert_reused_jobs(
    connection: Connection, task: UUID, jobs: Sequence[ReusedJob], *, files: Mapping[UUID, int]
) -> None:
    """Insert jobs as finished that were counted as ready or unanswered.

    ``files`` are the numbers of files that were registered for them, by data set.
    """
    now = await connection.fetchval("SELECT now()")
    await connection.copy_records_to_table(
        "jobs",
        records=[
            (
                task,
                job.draft.seq,
                dump_files(job.draft.inputs),
                JobState.FINISHED,
                now,
                f"taken over from job {job.source}",
            )
            for job in jobs
        ],
        columns=["task_uid", "seq", "inputs", "state", "ended_at", "message"],
    )
    await connection.execute(
        _COUNT_REUSED, task, len(jobs), {str(uid): count for uid, count in files.items()}
    )
    await connection.execute(_SET_DOWNSTREAM_DUE, task)
