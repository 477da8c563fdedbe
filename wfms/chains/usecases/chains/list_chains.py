"""List chains."""

from sluice.contracts.chains.chains import ChainPage
from sluice.contracts.common.problems import InvalidCursor
from sluice.servicekit.database import Database
from wfms.chains.db.reading import ChainQuery, list_chain_page


async def list_chains(database: Database, query: ChainQuery, *, after: str | None) -> ChainPage:
    """Return a page of chains, newest first; with ``query.ended``, the last to end first.

    Raises:
        InvalidCursor: ``after`` is not the end of a page.
    """
    if after is not None and not (after.isascii() and after.isdigit() and len(after) < 19):
        raise InvalidCursor(after)
    async with database.connection() as connection:
        chains, last = await list_chain_page(
            connection, query, before=None if after is None else int(after)
        )
    return ChainPage(chains=chains, after=None if last is None else str(last))
