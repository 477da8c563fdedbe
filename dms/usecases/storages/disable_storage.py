"""Disable a storage."""

from dms.db.storages import lock_storages, set_enabled
from dms.usecases.context import DmsContext
from dms.usecases.storages.get_storage import get_storage
from sluice.contracts.data.datasets import Storage


async def disable_storage(context: DmsContext, name: str) -> Storage:
    """Disable a storage: it gets no new data sets.

    Files on it are read, uploaded and deleted as before, and writes to its data sets continue. The
    call may be repeated.

    Raises:
        UnknownStorage: The storage does not exist.
    """
    async with context.database.transaction() as transaction:
        await lock_storages(transaction.connection)
        await set_enabled(transaction.connection, name, enabled=False)
        storage = await get_storage(transaction.connection, name)
    await context.storage_monitor.judge()
    return storage
