"""Count the chains that have not ended, and those that need a person."""

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.attention import ChainCounts
from sluice.servicekit.database import Database
from wfms.chains.db.attention import get_counts


async def count_chains(database: Database, visibility: Visibility = ALL) -> ChainCounts:
    """Count the chains that have not ended, and those that need a person."""
    async with database.connection() as connection:
        return await get_counts(connection, visibility)
