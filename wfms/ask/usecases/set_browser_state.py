"""Set whether the answers of a browser count."""

from uuid import UUID

from sluice.contracts.common.states import BrowserState
from wfms.ask.db import browsers
from wfms.ask.db.assignments import settle_items
from wfms.ask.usecases.context import AskContext


async def set_browser_state(
    context: AskContext,
    browser: UUID,
    state: BrowserState,
    *,
    reason: str,
    set_by: str | None,
) -> bool:
    """Set the state of a known browser, and recompute the items that it answered.

    All its answers count, or none. Items whose answers are fixed do not change.

    Returns:
        False if the state was the same before.
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        items = await browsers.set_browser_state(
            connection, browser, state, reason=reason, set_by=set_by
        )
        if items:
            await settle_items(connection, items)
    return items is not None
