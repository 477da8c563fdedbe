"""Asks the DMS to delete data sets that nothing needs any more."""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.messages import DMS_DELETIONS, DeleteDataset
from sluice.servicekit.database import Database, Transaction
from wfms.watcher.db.watches import insert_releases


async def request_deletions(
    transaction: Transaction, uids: Sequence[UUID], *, database: Database
) -> None:
    """Effect: each is noted, so that its deletion is asked for once however often it is named.
    Messages: ``dms.deletions`` for those that are new. Errors: none.
    """
    for uid in await insert_releases(transaction.connection, uids, now=database.clock.now()):
        transaction.send(DMS_DELETIONS, DeleteDataset(uid=uid), subject=uid, dataset=uid)


async def take_over_releases(database: Database, uids: Sequence[UUID]) -> None:
    """The chain service hands over data sets released without a report of ours. As
    ``request_deletions``.
    """
    async with database.transaction() as transaction:
        await request_deletions(transaction, uids, database=database)
