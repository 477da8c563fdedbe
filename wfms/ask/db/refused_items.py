"""Statements on items that cannot be shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

_SELECT_REFUSED_ITEMS = """
-- Uses the index items_refused.
SELECT uid, task_uid, job_id, reason, asked_at FROM items
WHERE reason <> '' AND ended_at IS NULL AND known_answer IS NULL ORDER BY task_uid, seq LIMIT $1
"""

_WITHDRAW_ITEMS = statement("""
UPDATE items SET state = '{item.WITHDRAWN}', ended_at = now()
WHERE uid = ANY(ARRAY(
    SELECT uid FROM items WHERE uid = ANY($1::uuid[]) AND state = '{item.OPEN}'
    ORDER BY uid FOR UPDATE))
""")


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item that cannot be shown, and why."""

    uid: UUID
    task: UUID
    job: int
    reason: str
    asked_at: datetime


async def list_refused_items(connection: Connection, *, limit: int) -> list[RefusedItem]:
    """Return items that cannot be shown and that the WMS does not know of, by task."""
    return [
        RefusedItem(row["uid"], row["task_uid"], row["job_id"], row["reason"], row["asked_at"])
        for row in await connection.fetch(_SELECT_REFUSED_ITEMS, limit)
    ]


async def withdraw_items(connection: Connection, items: Sequence[UUID]) -> None:
    """Withdraw items whose refusal the WMS has been told of."""
    await connection.execute(_WITHDRAW_ITEMS, list(items))
