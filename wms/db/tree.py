"""Statements on trees: what the jobs of one level gave is what the next level reads."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sluice.servicekit.database import Connection
from wms.db.statement import statement

KEEP_PARTS = """
-- In the transaction in which the attempts end, so that each part is there once.
INSERT INTO tree_parts (task_uid, seq, file) SELECT $1, * FROM unnest($2::bigint[], $3::jsonb[])
"""

READ_PARTS = """
-- A page of the files of one level, in order.
SELECT seq, file FROM tree_parts WHERE task_uid = $1 AND seq > $2 AND seq < $3 ORDER BY seq LIMIT $4
"""

NEXT_LEVEL = statement("""
-- All jobs of the level have finished: the next one is split, beginning with the next seq.
UPDATE tasks SET
    state = '{task.SPLITTING}', parts_first = level_first, level_first = split_last_seq + 1, split_group = split_last_seq + 1,
    split_cursor = NULL, split_skip = 0, split_checked_at = NULL
WHERE uid = $1 AND state = ANY($2) AND level_first < split_last_seq
RETURNING uid
""")

FORGET_PARTS = "DELETE FROM tree_parts WHERE task_uid = $1"


async def keep_parts(
    connection: Connection, task: UUID, parts: Sequence[tuple[int, dict[str, Any]]]
) -> None:
    await connection.execute(
        KEEP_PARTS, task, [seq for seq, _ in parts], [file for _, file in parts]
    )


async def read_parts(
    connection: Connection, task: UUID, *, after: int, before: int, limit: int
) -> list[tuple[int, dict[str, Any]]]:
    return [
        (row["seq"], row["file"])
        for row in await connection.fetch(READ_PARTS, task, after, before, limit)
    ]
