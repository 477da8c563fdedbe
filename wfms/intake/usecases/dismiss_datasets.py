"""Dismiss all unmatched data sets up to a time."""

from datetime import datetime

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.intake import Dismissed
from sluice.servicekit.database import Database
from wfms.intake.db.intake import delete_unmatched_until


async def dismiss_datasets(
    database: Database, until: datetime, visibility: Visibility = ALL
) -> Dismissed:
    """Remove all data sets that were unmatched by ``until``, as far as the caller sees them."""
    async with database.transaction() as transaction:
        return Dismissed(
            dismissed=await delete_unmatched_until(transaction.connection, until, visibility)
        )
