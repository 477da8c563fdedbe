"""Dismisses a data set that fits no template: somebody has seen to it."""

from uuid import UUID

from sluice.servicekit.database import Database
from wfms.intake.db.intake import delete_unmatched
from wfms.intake.usecases.rematch_dataset import NotUnmatched


async def dismiss_dataset(database: Database, uid: UUID) -> None:
    """Precondition: the data set is among the unmatched. Effect: it is not listed any more.
    Messages: none. Errors: ``NotUnmatched``."""
    async with database.transaction() as transaction:
        if not await delete_unmatched(transaction.connection, uid):
            raise NotUnmatched(uid)
