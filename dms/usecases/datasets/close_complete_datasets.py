"""Close the open data sets that have all their files."""

from dms.db.datasets import list_complete_datasets, take_closing_lock
from dms.usecases.datasets.dataset_closing import close_locked_datasets
from sluice.servicekit.database import Database

#: Data sets closed in one transaction.
BATCH = 100


async def close_complete_datasets(database: Database) -> int:
    """Close open data sets that have all their files, and return how many were closed.

    If the result is ``BATCH``, there may be more. Sends ``dms.dataset-closed`` for each.
    """
    async with database.transaction() as transaction:
        await take_closing_lock(transaction.connection)
        uids = await list_complete_datasets(transaction.connection, BATCH)
        if uids:
            await close_locked_datasets(transaction, uids)
    return len(uids)
