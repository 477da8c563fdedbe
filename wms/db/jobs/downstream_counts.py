"""Statements on the numbers of tasks that read the same inputs as a task.

A task's row includes these numbers: ``wms/db/tasks/tasks.py``.
"""

from uuid import UUID

from sluice.contracts.messaging.messages import DownstreamCounts
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.domain.releasing import Inputs

_INSERT_DOWNSTREAM_COUNTS = """
-- Skip tasks that have ended.
INSERT INTO downstream_counts (task_uid, counts)
SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM tasks WHERE uid = $1 AND ended_at IS NOT NULL)
ON CONFLICT DO NOTHING RETURNING task_uid
"""

_SELECT_FINISHED = statement("""
-- Finished jobs of the task. There are none while jobs are being created from a whole data set.
SELECT j.seq, j.inputs FROM tasks AS t JOIN jobs AS j ON j.task_uid = t.uid
WHERE t.uid = $1 AND j.state = '{job.FINISHED}'
    AND (t.state <> '{task.SPLITTING}' OR EXISTS (SELECT FROM flows WHERE downstream_uid = t.uid))
ORDER BY j.seq LIMIT $2
""")

_FORGET_DOWNSTREAM_COUNTS = "DELETE FROM downstream_counts WHERE task_uid = $1"


async def insert_downstream_counts(connection: Connection, message: DownstreamCounts) -> bool:
    """Store how many tasks read each input of a task, unless they are known or the task has ended.

    Returns:
        Whether they were stored.
    """
    counts = {str(uid): count for uid, count in message.counts.items()}
    inserted = await connection.fetchval(_INSERT_DOWNSTREAM_COUNTS, message.task_uid, counts)
    return inserted is not None


async def list_finished_inputs(
    connection: Connection, task: UUID, *, limit: int
) -> list[tuple[int, Inputs]]:
    """Return the numbers and inputs of the task's finished jobs, in order.

    The list is empty while jobs of a whole data set are being made. The caller must hold the task's
    lock.
    """
    rows = await connection.fetch(_SELECT_FINISHED, task, limit)
    return [(row["seq"], row["inputs"]) for row in rows]


async def forget_downstream_counts(connection: Connection, task: UUID) -> None:
    """Delete the stored numbers of tasks that read the task's inputs."""
    await connection.execute(_FORGET_DOWNSTREAM_COUNTS, task)
