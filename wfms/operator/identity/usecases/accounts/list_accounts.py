"""List the accounts of people."""

from sluice.contracts.access.people import Account
from sluice.servicekit.database import Database
from wfms.operator.identity.db.people import list_people


async def list_accounts(database: Database) -> list[Account]:
    """Return the accounts by name."""
    async with database.connection() as connection:
        return await list_people(connection)
