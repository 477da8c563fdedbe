"""Reads chains as they are shown."""

from uuid import UUID

from sluice.contracts.attention import ChainCounts
from sluice.contracts.chains import Chain, ChainPage
from sluice.contracts.owners import ALL, Sight
from sluice.contracts.problems import WrongCursor
from sluice.servicekit.database import Database
from wfms.chains.db.attention import counts
from wfms.chains.db.reading import ChainQuery, chains_page
from wfms.chains.usecases.cancel_chain import UnknownChain


async def read_chain(database: Database, uid: UUID, *, failures: bool = False) -> Chain:
    """Return a chain; with ``failures``, with the numbers of failed jobs.

    Raises:
        UnknownChain: There is none.
    """
    async with database.connection() as connection:
        chains, _ = await chains_page(connection, ChainQuery(uids=[uid], failures=failures))
    if not chains:
        raise UnknownChain(uid)
    return chains[0]


async def count_chains(database: Database, sight: Sight = ALL) -> ChainCounts:
    """Those under way, and those that need a person. Errors: none."""
    async with database.connection() as connection:
        return await counts(connection, sight)


async def read_chains(database: Database, query: ChainQuery, *, after: str | None) -> ChainPage:
    """Newest first, but those that have ended. Errors: ``WrongCursor``."""
    if after is not None and not (after.isascii() and after.isdigit() and len(after) < 19):
        raise WrongCursor(after)
    async with database.connection() as connection:
        chains, last = await chains_page(
            connection, query, before=None if after is None else int(after)
        )
    return ChainPage(chains=chains, after=None if last is None else str(last))
