"""List the periods."""

from dms.db import periods
from sluice.contracts.data.runs import Period
from sluice.servicekit.database import Database


async def list_periods(database: Database) -> list[Period]:
    """Return all periods by name."""
    async with database.connection() as connection:
        return await periods.list_periods(connection)
