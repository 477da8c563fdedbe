"""Statements on trees, where each level reads the files that the jobs of the level before wrote.

The caller must hold the task's lock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.jobs.job_inputs import InputFile
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.dataflow.dataflow_links import add_jobs
from wms.domain.splitting.grouping import JobDraft

_KEEP_PARTS = """
-- Insert in the transaction that ends the attempts, so that each part is stored once.
INSERT INTO tree_parts (task_uid, seq, file) SELECT $1, * FROM unnest($2::bigint[], $3::jsonb[])
"""

_READ_PARTS = """
-- Files of one level that are in no job, in order.
SELECT seq, file FROM tree_parts WHERE task_uid = $1 AND seq > $2 AND seq < $3 ORDER BY seq
"""

_SELECT_LEVELS = "SELECT level, made, taken_seq, closed FROM tree_levels WHERE task_uid = $1"

SELECT_FIRST_OPEN = statement("""
-- The query excludes states, because indexes on states do not keep the order. A failed job counts
-- as open: it may be retried, and the tree needs it.
SELECT seq FROM jobs
WHERE task_uid = $1 AND seq > $2 AND seq < $3
    AND state NOT IN ('{job.FINISHED}', '{job.CANCELED}')
ORDER BY seq LIMIT 1
""")

_SET_LEVEL = """
INSERT INTO tree_levels (task_uid, level, made, taken_seq, closed) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (task_uid, level)
DO UPDATE SET made = excluded.made, taken_seq = excluded.taken_seq, closed = excluded.closed
"""

_SET_ROOT = "UPDATE tasks SET root_seq = $2 WHERE uid = $1"

_FORGET_TREE = """
WITH levels AS (DELETE FROM tree_levels WHERE task_uid = $1)
DELETE FROM tree_parts WHERE task_uid = $1
"""


@dataclass(frozen=True, slots=True)
class TreePart:
    """A file that a job wrote, as an input of a job of the next level.

    Attributes:
        seq: The number of the job.
        file: The file, without its number.
    """

    seq: int
    file: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TreeLevel:
    """A level of a tree.

    Attributes:
        made: Number of jobs so far.
        taken_seq: The last part that is in a job.
        closed: The level has all its jobs.
    """

    level: int
    made: int
    taken_seq: int
    closed: bool


async def keep_parts(connection: Connection, task: UUID, parts: Sequence[TreePart]) -> None:
    """Store files that jobs of the tree wrote."""
    seqs, files = [part.seq for part in parts], [part.file for part in parts]
    await connection.execute(_KEEP_PARTS, task, seqs, files)


async def list_parts(
    connection: Connection, task: UUID, *, after: int, before: int
) -> list[JobDraft]:
    """Return the files of jobs with a seq between the two, in order, as entries of jobs."""
    rows = await connection.fetch(_READ_PARTS, task, after, before)
    return [
        JobDraft(row["seq"], [InputFile.model_construct(seq=row["seq"], **row["file"])])
        for row in rows
    ]


async def list_levels(connection: Connection, task: UUID) -> dict[int, TreeLevel]:
    """Return the levels of the tree except the first."""
    rows = await connection.fetch(_SELECT_LEVELS, task)
    return {row["level"]: TreeLevel(**row) for row in rows}


async def find_first_open_job(
    connection: Connection, task: UUID, *, after: int, before: int
) -> int | None:
    """Return the first job between the two that has not written its file, or None."""
    seq: int | None = await connection.fetchval(SELECT_FIRST_OPEN, task, after, before)
    return seq


async def set_level(
    connection: Connection, task: UUID, level: TreeLevel, *, new: Sequence[JobDraft]
) -> None:
    """Store the state of the level and add its ``new`` jobs."""
    await connection.execute(
        _SET_LEVEL, task, level.level, level.made, level.taken_seq, level.closed
    )
    await add_jobs(connection, task, new)


async def set_root(connection: Connection, task: UUID, seq: int) -> None:
    """Store the job whose file is the output of the step."""
    await connection.execute(_SET_ROOT, task, seq)


async def forget_tree(connection: Connection, task: UUID) -> None:
    """Delete the levels and files of the task's tree."""
    await connection.execute(_FORGET_TREE, task)
