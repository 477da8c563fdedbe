"""Read chains."""

from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.attention import ChainCounts
from sluice.contracts.chains.chains import Chain, ChainPage
from sluice.contracts.common.problems import InvalidCursor
from sluice.servicekit.database import Database
from wfms.chains.db.attention import read_counts
from wfms.chains.db.reading import ChainQuery, read_chain_page
from wfms.chains.usecases.cancel_chain import UnknownChain


async def read_chain(database: Database, uid: UUID) -> Chain:
    """Return a chain.

    Raises:
        UnknownChain: There is no such chain.
    """
    async with database.connection() as connection:
        chains, _ = await read_chain_page(connection, ChainQuery(uids=[uid]))
    if not chains:
        raise UnknownChain(uid)
    return chains[0]


async def count_chains(database: Database, visibility: Visibility = ALL) -> ChainCounts:
    """Count the chains that have not ended, and those that need a person."""
    async with database.connection() as connection:
        return await read_counts(connection, visibility)


async def read_chains(database: Database, query: ChainQuery, *, after: str | None) -> ChainPage:
    """Return a page of chains, newest first; with ``query.ended``, the last to end first.

    Raises:
        InvalidCursor: ``after`` is not the end of a page.
    """
    if after is not None and not (after.isascii() and after.isdigit() and len(after) < 19):
        raise InvalidCursor(after)
    async with database.connection() as connection:
        chains, last = await read_chain_page(
            connection, query, before=None if after is None else int(after)
        )
    return ChainPage(chains=chains, after=None if last is None else str(last))
