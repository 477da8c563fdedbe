"""Statements on who reads a task's inputs beside it. What is known of a task is read with its row:
``wms/db/tasks.py``."""

from uuid import UUID

from sluice.contracts.messages import InputReaders
from sluice.servicekit.database import Connection

_INSERT_READERS = """
-- Told late, it is of no use.
INSERT INTO input_readers (task_uid, readers)
SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM tasks WHERE uid = $1 AND ended_at IS NOT NULL)
ON CONFLICT DO NOTHING
"""

_FORGET_READERS = "DELETE FROM input_readers WHERE task_uid = $1"


async def insert_readers(connection: Connection, told: InputReaders) -> None:
    await connection.execute(
        _INSERT_READERS, told.task_uid, {str(uid): count for uid, count in told.readers.items()}
    )


async def forget_readers(connection: Connection, task: UUID) -> None:
    await connection.execute(_FORGET_READERS, task)
