"""Statements on who reads a task's inputs beside it. What is known of a task is read with its row:
``wms/db/tasks.py``."""

from uuid import UUID

from sluice.contracts.messages import InputReaders
from sluice.servicekit.database import Connection
from wms.db.statement import statement
from wms.domain.releasing import Inputs

_INSERT_READERS = """
-- Of a task that has ended it is of no use.
INSERT INTO input_readers (task_uid, readers)
SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM tasks WHERE uid = $1 AND ended_at IS NOT NULL)
ON CONFLICT DO NOTHING RETURNING task_uid
"""

_SELECT_FINISHED = statement("""
-- Jobs of the task that finished already, unless some are being made of a whole data set.
SELECT j.seq, j.inputs FROM tasks AS t JOIN jobs AS j ON j.task_uid = t.uid
WHERE t.uid = $1 AND j.state = '{job.FINISHED}'
    AND (t.state <> '{task.SPLITTING}' OR EXISTS (SELECT FROM flows WHERE reader = t.uid))
ORDER BY j.seq LIMIT $2
""")

_FORGET_READERS = "DELETE FROM input_readers WHERE task_uid = $1"


async def insert_readers(connection: Connection, told: InputReaders) -> bool:
    """False where that was known, or the task has ended."""
    readers = {str(uid): count for uid, count in told.readers.items()}
    return await connection.fetchval(_INSERT_READERS, told.task_uid, readers) is not None


async def jobs_finished_before(
    connection: Connection, task: UUID, *, limit: int
) -> list[tuple[int, Inputs]]:
    """Their numbers and inputs, in order; under the task's lock."""
    rows = await connection.fetch(_SELECT_FINISHED, task, limit)
    return [(row["seq"], row["inputs"]) for row in rows]


async def forget_readers(connection: Connection, task: UUID) -> None:
    await connection.execute(_FORGET_READERS, task)
