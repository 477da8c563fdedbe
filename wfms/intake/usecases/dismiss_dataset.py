"""Dismiss unmatched data sets, because somebody has dealt with them."""

from datetime import datetime
from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.intake import Dismissed
from sluice.servicekit.database import Database
from wfms.intake.db.intake import delete_unmatched, delete_unmatched_until, is_visible_unmatched
from wfms.intake.usecases.rematch_dataset import DatasetNotUnmatched


async def dismiss_dataset(database: Database, uid: UUID, visibility: Visibility = ALL) -> None:
    """Remove a data set from the unmatched ones.

    Raises:
        DatasetNotUnmatched: It is not among the unmatched ones that the caller sees.
    """
    async with database.transaction() as transaction:
        if not await is_visible_unmatched(transaction.connection, uid, visibility):
            raise DatasetNotUnmatched(uid)
        if not await delete_unmatched(transaction.connection, uid):
            raise DatasetNotUnmatched(uid)


async def dismiss_datasets(
    database: Database, until: datetime, visibility: Visibility = ALL
) -> Dismissed:
    """Remove all data sets that were unmatched by ``until``, as far as the caller sees them."""
    async with database.transaction() as transaction:
        return Dismissed(
            dismissed=await delete_unmatched_until(transaction.connection, until, visibility)
        )
