"""Disable and enable storages."""

from dms.db.stalled import retry_uploads
from dms.db.storages import find_storage, list_roots, lock_storages, set_enabled, set_folder
from dms.domain.places import Root
from dms.domain.storage_errors import UnknownStorage
from dms.usecases.context import DmsContext
from dms.usecases.storages.register_storage import probe_storage
from sluice.contracts.data.datasets import NewStorage, Storage
from sluice.servicekit.database import Connection


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
        storage = await _storage(transaction.connection, name)
    await context.storage_monitor.judge()
    return storage


async def enable_storage(context: DmsContext, name: str) -> Storage:
    """Enable a storage again, and retry postponed uploads.

    The storage is checked and probed like a new one. The call has no effect on an enabled storage.

    Raises:
        UnknownStorage: The storage does not exist.
        StorageRefused: It may not be at its URL, or cannot be used.
        StoragesOverlap: It overlaps with an enabled storage.
    """
    async with context.database.connection() as connection:
        storage = await _storage(connection, name)
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
            storage = await _storage(transaction.connection, name)
    await context.storage_monitor.judge()
    return storage


async def _enabled(connection: Connection) -> list[Root]:
    return [root for root in (await list_roots(connection)).values() if root.enabled]


async def _storage(connection: Connection, name: str) -> Storage:
    storage = await find_storage(connection, name)
    if storage is None:
        raise UnknownStorage(name)
    return storage
