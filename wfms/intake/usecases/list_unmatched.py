"""List the unmatched data sets."""

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.intake import UnmatchedList
from sluice.servicekit.database import Database
from wfms.intake.db import intake


async def list_unmatched(
    database: Database, *, limit: int, visibility: Visibility = ALL
) -> UnmatchedList:
    """Return the unmatched data sets, newest first."""
    async with database.connection() as connection:
        return UnmatchedList(
            datasets=await intake.list_unmatched(connection, limit=limit, visibility=visibility),
            total=await intake.count_unmatched(connection, visibility),
        )
