"""Close the open data sets that have all their files."""

from collections.abc import Callable

from dms.db.datasets import list_complete_datasets, take_closing_lock
from dms.usecases.datasets.dataset_closing import close_locked_datasets
from sluice.servicekit.database import Database
from sluice.servicekit.running.loop import do_nothing

#: Data sets closed in one transaction.
BATCH = 100


async def close_complete_datasets(
    database: Database, on_found: Callable[[], None] = do_nothing
) -> bool:
    """Close open data sets that have all their files, and return whether there may be more.

    Calls ``on_found`` if any was closed. Sends ``dms.dataset-closed`` for each.
    """
    async with database.transaction() as transaction:
        await take_closing_lock(transaction.connection)
        uids = await list_complete_datasets(transaction.connection, BATCH)
        if uids:
            await close_locked_datasets(transaction, uids)
    if uids:
        on_found()
    return len(uids) == BATCH
