"""Assign items to others that browsers have kept for too long."""

from wfms.ask.db.assignments import (
    list_expired_assignments,
    lock_items,
    mark_assignments_ended,
    settle_items,
)
from wfms.ask.usecases.context import AskContext

PAGE = 500


async def end_assignments(context: AskContext) -> bool:
    """End expired assignments, so that other browsers may get the items.

    An answer of the first browser still counts while its item is open.

    Returns:
        Whether there are more.
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        items = sorted(set(await list_expired_assignments(connection, limit=PAGE)))
        if items:
            await lock_items(connection, items)
            await mark_assignments_ended(connection, items)
            await settle_items(connection, items)
    return len(items) == PAGE
