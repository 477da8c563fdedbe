"""Ask the DMS to delete data sets that are no longer needed."""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.messaging.messages import DMS_DELETIONS, DeleteDataset
from sluice.servicekit.database import Database, Transaction
from wfms.watcher.db.watches import insert_releases


async def request_deletions(
    transaction: Transaction, uids: Sequence[UUID], *, database: Database
) -> None:
    """Send ``dms.deletions`` for data sets; for each data set once, however often it is named."""
    for uid in await insert_releases(transaction.connection, uids, now=database.clock.now()):
        transaction.send(DMS_DELETIONS, DeleteDataset(uid=uid), subject=uid, dataset=uid)
