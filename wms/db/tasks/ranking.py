"""Statements on ranks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sluice.contracts.jobs.tasks import Boost, BoostResult
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

_SET_RANK = statement("""
-- A person's rank becomes the base rank, without a boost.
UPDATE tasks SET base_rank = $2, rank = $2, boost = 0, boost_reason = '', ranked_by_hand = true
WHERE uid = $1 AND state NOT IN ('{task.FINISHED}', '{task.FAILED}', '{task.CANCELED}')
RETURNING uid
""")

_SELECT_TO_RANK = statement("""
-- Live tasks whose rank is older than $1, so that two instances do not age a task twice. In order
-- of uid: see the lock rule. A task that waits for space on a storage does not age, because another
-- rank would not help.
SELECT uid, rank, base_rank + boost AS base_rank, total, failed_attempts,
    CASE WHEN ready > 0
        AND NOT EXISTS (SELECT FROM storage_waits WHERE task_uid = uid)
        THEN extract(epoch FROM now() - coalesce(served_at, created_at))::float ELSE 0 END AS waited
FROM tasks
WHERE state NOT IN ('{task.FINISHED}', '{task.FAILED}', '{task.CANCELED}')
    AND ranked_at <= now() - $1::interval
ORDER BY uid FOR NO KEY UPDATE
""")

_SET_RANKS = """
UPDATE tasks AS t SET rank = r.rank, ranked_at = now()
FROM unnest($1::uuid[], $2::float[]) AS r(uid, rank) WHERE t.uid = r.uid
"""

_SET_BOOSTS = statement("""
-- Boost the live tasks $1 (for reasons $2) by $3, and no others. Tasks ranked by a person stay
-- unchanged. In order of uid: see the lock rule. Tasks with the right boost are skipped.
WITH changing AS MATERIALIZED (
    SELECT t.uid, t.boost AS before, w.reason,
        CASE WHEN w.uid IS NULL THEN 0 ELSE $3::float END AS boost
    FROM tasks AS t LEFT JOIN unnest($1::uuid[], $2::text[]) AS w(uid, reason) ON w.uid = t.uid
    WHERE t.state NOT IN ('{task.FINISHED}', '{task.FAILED}', '{task.CANCELED}')
        AND NOT t.ranked_by_hand
        AND (t.boost, t.boost_reason) IS DISTINCT FROM
            (CASE WHEN w.uid IS NULL THEN 0 ELSE $3::float END, coalesce(w.reason, ''))
    ORDER BY t.uid FOR NO KEY UPDATE OF t
)
UPDATE tasks AS t SET
    rank = t.rank + c.boost - c.before, boost = c.boost, boost_reason = coalesce(c.reason, '')
FROM changing AS c WHERE t.uid = c.uid RETURNING t.boost
""")

_SELECT_BOOST = """
SELECT boost, boost_reason FROM tasks WHERE uid = $1 AND ended_at IS NULL AND boost > 0
"""


@dataclass(frozen=True, slots=True)
class TaskToRank:
    """A live task whose rank is due for an update.

    Attributes:
        base_rank: The base rank plus the current boost.
        waited: Seconds since one of its ready jobs was leased; 0 if it has none or waits for space
            on a storage.
    """

    uid: UUID
    rank: float
    base_rank: float
    total: int
    failed_attempts: int
    waited: float


@dataclass(frozen=True, slots=True)
class RankBoost:
    """By how much a task's rank is raised now, and why."""

    by: float
    reason: str


async def set_rank(connection: Connection, uid: UUID, rank: float) -> bool:
    """Set the rank of a task by hand; return False if the task is unknown or has ended."""
    return await connection.fetchval(_SET_RANK, uid, rank) is not None


async def lock_tasks_to_rank(connection: Connection, *, age: timedelta) -> list[TaskToRank]:
    """Lock and return the live tasks whose ranks are at least ``age`` old."""
    return [TaskToRank(**row) for row in await connection.fetch(_SELECT_TO_RANK, age)]


async def set_ranks(connection: Connection, ranks: Mapping[UUID, float]) -> None:
    """Set the ranks of tasks that the transaction has locked."""
    await connection.execute(_SET_RANKS, list(ranks), list(ranks.values()))


async def set_boosts(connection: Connection, boosts: Sequence[Boost], *, by: float) -> BoostResult:
    """Raise the ranks of the given tasks by ``by``, and end the boosts of all others."""
    tasks, reasons = [boost.task_uid for boost in boosts], [boost.reason for boost in boosts]
    rows = await connection.fetch(_SET_BOOSTS, tasks, reasons, by)
    raised = sum(row["boost"] > 0 for row in rows)
    return BoostResult(raised=raised, lowered=len(rows) - raised)


async def find_boost(connection: Connection, uid: UUID) -> RankBoost | None:
    """Return the boost of the task, or None if it has none or has ended."""
    row = await connection.fetchrow(_SELECT_BOOST, uid)
    return None if row is None else RankBoost(row["boost"], row["boost_reason"])
