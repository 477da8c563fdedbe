"""List the ties between templates."""

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.intake import TieList
from sluice.servicekit.database import Database
from wfms.intake.db import ties


async def list_ties(database: Database, *, limit: int, visibility: Visibility = ALL) -> TieList:
    """Return the ties, the latest first."""
    async with database.connection() as connection:
        return TieList(ties=await ties.list_ties(connection, limit=limit, visibility=visibility))
