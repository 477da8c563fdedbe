"""End a link that opens the page of a step."""

from uuid import UUID

from sluice.contracts.common.problems import Conflict
from wfms.ask.db import links
from wfms.ask.usecases.context import AskContext


async def end_link(context: AskContext, link: UUID) -> None:
    """End a link. Browsers that came by it are no longer admitted; their answers count.

    Raises:
        Conflict: The link has ended already.
    """
    async with context.database.transaction() as transaction:
        if not await links.end_link(transaction.connection, link):
            raise Conflict("this link has ended already")
