"""Statements on trees: what the jobs of one level gave is what the next level reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.life_cycles import states_before
from sluice.contracts.states import TaskState
from sluice.servicekit.database import Connection
from wms.db.statement import statement
from wms.domain.transitions import TASK_MOVES

_KEEP_PARTS = """
-- In the transaction in which the attempts end, so that each part is there once.
INSERT INTO tree_parts (task_uid, seq, file) SELECT $1, * FROM unnest($2::bigint[], $3::jsonb[])
"""

_READ_PARTS = """
-- A page of the files of one level, in order.
SELECT seq, file FROM tree_parts WHERE task_uid = $1 AND seq > $2 AND seq < $3 ORDER BY seq LIMIT $4
"""

_BEGIN_LEVEL = statement("""
-- All jobs of the level have finished: the next one is split, beginning with the next seq.
UPDATE tasks SET
    state = '{task.SPLITTING}', parts_first = level_first,
    level_first = split_last_seq + 1, split_group = split_last_seq + 1,
    split_cursor = NULL, split_skip = 0, split_checked_at = NULL
WHERE uid = $1 AND state = ANY($2) AND level_first < split_last_seq
RETURNING uid
""")

_FORGET_PARTS = "DELETE FROM tree_parts WHERE task_uid = $1"


@dataclass(frozen=True, slots=True)
class TreePart:
    """The file that job ``seq`` gave, as the input of a job of the next level, without its seq."""

    seq: int
    file: dict[str, Any]


async def keep_parts(connection: Connection, task: UUID, parts: Sequence[TreePart]) -> None:
    seqs, files = [part.seq for part in parts], [part.file for part in parts]
    await connection.execute(_KEEP_PARTS, task, seqs, files)


async def read_parts(
    connection: Connection, task: UUID, *, after: int, before: int, limit: int
) -> list[TreePart]:
    """Those of jobs whose seq lies between, in order."""
    rows = await connection.fetch(_READ_PARTS, task, after, before, limit)
    return [TreePart(**row) for row in rows]


async def begin_next_level(connection: Connection, task: UUID) -> bool:
    """False where the level has one job alone, whose file is the step's; under the task's lock."""
    moves = states_before(TASK_MOVES, TaskState.SPLITTING)
    return await connection.fetchval(_BEGIN_LEVEL, task, moves) is not None


async def forget_parts(connection: Connection, task: UUID) -> None:
    await connection.execute(_FORGET_PARTS, task)
