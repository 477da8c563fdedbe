"""Statements for making a task's jobs. Whoever splits a task holds it by a token for a while; each
page is one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sluice.contracts.states import TaskState
from sluice.contracts.tasks import TakenOver
from sluice.servicekit.database import Connection
from wms.db.statement import statement

CLAIM_TASK = statement("""
-- The best task whose jobs are not made and that nobody makes, not looked at since $2 ($3: how long the claim holds).
UPDATE tasks SET split_token = $1, split_until = now() + $3, split_checked_at = now()
WHERE uid = (
    SELECT uid FROM tasks
    WHERE state NOT IN ('{task.ACTIVE}', '{task.FINISHED}', '{task.FAILED}', '{task.CANCELED}')
        AND (split_until IS NULL OR split_until < now())
        AND (split_checked_at IS NULL OR split_checked_at < $2)
    ORDER BY rank DESC, created_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
RETURNING uid, state, split_cursor, split_skip, split_group, split_last_seq, level_first, parts_first, taken_over
""")

RELEASE_TASK = """
-- Nothing to be done for now; why stands in the reason.
UPDATE tasks SET split_token = NULL, split_until = NULL, reason = $3 WHERE uid = $1 AND split_token = $2
"""

BEGIN_SPLITTING = statement("""
-- What all jobs get is stored before there are any.
UPDATE tasks SET state = '{task.SPLITTING}', reason = '', shared_inputs = $3
WHERE uid = $1 AND split_token = $2 AND state = '{task.WAITING}'
RETURNING uid
""")

ADD_PAGE = statement("""
-- The place to read on moves with the jobs (guarded by the token: a claim that ran out adds nothing). $8: the last page.
UPDATE tasks SET
    total = total + $3, ready = ready + $3, split_cursor = $4, split_skip = $5, split_group = $6, split_last_seq = $7,
    state = CASE WHEN $8 THEN '{task.ACTIVE}' ELSE state END,
    split_token = CASE WHEN $8 THEN NULL ELSE split_token END,
    split_until = CASE WHEN $8 THEN NULL ELSE now() + $9 END
WHERE uid = $1 AND split_token = $2 AND state = '{task.SPLITTING}'
RETURNING uid
""")

HELD_TASK = "SELECT uid FROM tasks WHERE uid = $1 AND split_token = $2 FOR NO KEY UPDATE"

NOW = "SELECT clock_timestamp()"


@dataclass(frozen=True, slots=True)
class SplitClaim:
    """A task to split. ``cursor``: page to read next; ``skip``: files of it that have jobs already;
    ``group``: number of the next merge group; ``last_seq``: highest seq used so far, -1 for none.
    Of a level of a tree: ``level_first``: its first job's seq; ``parts_first``: that of the level
    before, whose files it reads; -1 for the first level. ``taken_over``: the task whose finished
    jobs it takes over."""

    uid: UUID
    token: UUID
    state: TaskState
    cursor: str | None
    skip: int
    group: int
    last_seq: int
    level_first: int
    parts_first: int
    taken_over: TakenOver | None = None


async def claim_task(
    connection: Connection, token: UUID, *, before: datetime, hold: Any
) -> SplitClaim | None:
    row = await connection.fetchrow(CLAIM_TASK, token, before, hold)
    if row is None:
        return None
    return SplitClaim(
        uid=row["uid"],
        token=token,
        state=TaskState(row["state"]),
        cursor=row["split_cursor"],
        skip=row["split_skip"],
        group=row["split_group"],
        last_seq=row["split_last_seq"],
        level_first=row["level_first"],
        parts_first=row["parts_first"],
        taken_over=(
            None if row["taken_over"] is None else TakenOver.model_validate(row["taken_over"])
        ),
    )


async def insert_jobs(
    connection: Connection, task_uid: UUID, jobs: Sequence[tuple[int, Any]]
) -> None:
    """``jobs``: seq and inputs, in order. COPY, as a page makes thousands of rows."""
    await connection.copy_records_to_table(
        "jobs",
        records=[(task_uid, seq, inputs) for seq, inputs in jobs],
        columns=["task_uid", "seq", "inputs"],
    )
