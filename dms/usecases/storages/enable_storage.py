"""Enable a storage."""

from dms.db.stalled import retry_uploads
from dms.db.storages import list_roots, lock_storages, set_enabled, set_folder
from dms.domain.places import Root
from dms.usecases.context import DmsContext
from dms.usecases.storages.get_storage import get_storage
from dms.usecases.storages.probe_storage import probe_storage
from sluice.contracts.data.datasets import NewStorage, Storage
from sluice.servicekit.database import Connection


async def enable_storage(context: DmsContext, name: str) -> Storage:
    """Enable a storage again, and retry postponed uploads.

    The storage is checked and probed like a new one. The call has no effect on an enabled storage.

    Raises:
        UnknownStorage: The storage does not exist.
        StorageRefused: It may not be at its URL, or cannot be used.
        StoragesOverlap: It overlaps with an enabled storage.
    """
    async with context.database.connection() as connection:
        storage = await get_storage(connection, name)
    tried = False
    while not storage.enabled:
        async with context.database.connection() as connection:
            others = await _enabled(connection)
        path = await context.storage_monitor.require_free(name, storage.url, others)
        if not tried:
            await probe_storage(
                context.files,
                NewStorage.model_validate(storage.model_dump(include=set(NewStorage.model_fields))),
            )
            tried = True
        async with context.database.transaction() as transaction:
            await lock_storages(transaction.connection)
            # Otherwise another storage was enabled meanwhile.
            if await _enabled(transaction.connection) == others:
                await set_enabled(transaction.connection, name, enabled=True)
                await set_folder(transaction.connection, storage.id, path)
                await retry_uploads(transaction.connection)
            storage = await get_storage(transaction.connection, name)
    await context.storage_monitor.judge()
    return storage


async def _enabled(connection: Connection) -> list[Root]:
    return [root for root in (await list_roots(connection)).values() if root.enabled]
