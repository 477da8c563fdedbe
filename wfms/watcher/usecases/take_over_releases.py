"""Take over the deletion of data sets from the chain service."""

from collections.abc import Sequence
from uuid import UUID

from sluice.servicekit.database import Database
from wfms.watcher.usecases.request_deletions import request_deletions


async def take_over_releases(database: Database, uids: Sequence[UUID]) -> None:
    """Take over the deletion of data sets from the chain service.

    The chain service released them without a report of the watcher.
    """
    async with database.transaction() as transaction:
        await request_deletions(transaction, uids, database=database)
