"""Add up the recorded changes of the usage of storages."""

from dms.db import storages
from sluice.servicekit.database import Database

#: Number of rows from which they are added up.
_MAX_ROWS = 100


async def fold_usage(database: Database) -> None:
    """Add up the recorded changes of usage if there are many."""
    async with database.connection() as connection:
        await storages.fold_usage(connection, more_than=_MAX_ROWS)
