"""Taking a storage out of use, and into use again."""

from dms.db.stalled import retry_uploads
from dms.db.storages import all_roots, lock_storages, set_enabled, set_folder, storage_named
from dms.domain.places import Root
from dms.domain.storage_errors import UnknownStorage
from dms.usecases.context import DmsContext
from dms.usecases.register_storage import try_out
from sluice.contracts.datasets import NewStorage, Storage
from sluice.servicekit.database import Connection


async def disable_storage(context: DmsContext, name: str) -> Storage:
    """Effect: it gets no new data sets; what lies on it is read, uploaded and deleted as before,
    and data sets that are being written there go on. Repeating it is fine. Messages: none. Raises
    ``UnknownStorage``.
    """
    async with context.database.transaction() as transaction:
        await lock_storages(transaction.connection)
        await set_enabled(transaction.connection, name, enabled=False)
        storage = await _storage(transaction.connection, name)
    await context.watch.judge()
    return storage


async def enable_storage(context: DmsContext, name: str) -> Storage:
    """Effect: it gets new data sets again, having been looked at and tried out as a new one is, and
    uploads that rest are tried again; nothing where it is enabled. Messages: none.

    Raises ``UnknownStorage``, ``StorageRefused``; ``StoragesOverlap`` with another that is enabled.
    """
    async with context.database.connection() as connection:
        storage = await _storage(connection, name)
    tried = False
    while not storage.enabled:
        async with context.database.connection() as connection:
            others = await _enabled(connection)
        path = await context.watch.require_free(name, storage.url, others)
        if not tried:
            await try_out(
                context.files,
                NewStorage.model_validate(storage.model_dump(include=set(NewStorage.model_fields))),
            )
            tried = True
        async with context.database.transaction() as transaction:
            await lock_storages(transaction.connection)
            if (
                await _enabled(transaction.connection) == others
            ):  # else somebody enabled another meanwhile
                await set_enabled(transaction.connection, name, enabled=True)
                await set_folder(transaction.connection, storage.id, path)
                await retry_uploads(transaction.connection)
            storage = await _storage(transaction.connection, name)
    await context.watch.judge()
    return storage


async def _enabled(connection: Connection) -> list[Root]:
    return [root for root in (await all_roots(connection)).values() if root.enabled]


async def _storage(connection: Connection, name: str) -> Storage:
    storage = await storage_named(connection, name)
    if storage is None:
        raise UnknownStorage(name)
    return storage
