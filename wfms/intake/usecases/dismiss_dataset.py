"""Dismisses a data set that fits no template: somebody has seen to it."""

from uuid import UUID

from sluice.contracts.owners import ALL, Sight
from sluice.servicekit.database import Database
from wfms.intake.db.intake import delete_unmatched, unmatched_seen
from wfms.intake.usecases.rematch_dataset import NotUnmatched


async def dismiss_dataset(database: Database, uid: UUID, sight: Sight = ALL) -> None:
    """Precondition: the data set is among the unmatched. Effect: it is not listed any more.
    Messages: none. Errors: ``NotUnmatched``."""
    async with database.transaction() as transaction:
        if not await unmatched_seen(transaction.connection, uid, sight):
            raise NotUnmatched(uid)
        if not await delete_unmatched(transaction.connection, uid):
            raise NotUnmatched(uid)
