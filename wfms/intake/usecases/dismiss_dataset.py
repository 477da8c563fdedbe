"""Dismiss unmatched data sets, because somebody has dealt with them."""

from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.servicekit.database import Database
from wfms.intake.db.intake import delete_unmatched, is_visible_unmatched
from wfms.intake.usecases.new_decision import DatasetNotUnmatched


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
