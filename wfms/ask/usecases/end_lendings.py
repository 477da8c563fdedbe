"""Gives items to others that browsers have kept for too long."""

from wfms.ask.db.lending import end_lendings, lock_items, run_out, settle
from wfms.ask.usecases.context import AskContext

PAGE = 500


async def end_old_lendings(context: AskContext) -> bool:
    """Precondition: none. Effect: items whose time with a browser is over may go to others; an
    answer of that browser still counts while they are asked. Messages: none. True: there is
    more.
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        items = sorted(set(await run_out(connection, most=PAGE)))
        if items:
            await lock_items(connection, items)
            await end_lendings(connection, items)
            await settle(connection, items)
    return len(items) == PAGE
