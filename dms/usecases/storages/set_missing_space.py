"""Record that work waits for space on a storage, and check what is free there."""

from math import isfinite

from dms.db.missing_space import delete_missing_space, upsert_missing_space
from dms.db.storages import find_storage
from dms.domain.storage_errors import UnknownStorage
from dms.usecases.context import DmsContext
from dms.usecases.storages.free_space import free_on, is_full
from sluice.contracts.data.storage_space import StorageSpace


async def set_missing_space(
    context: DmsContext, name: str, needed_bytes: int | None
) -> StorageSpace:
    """Record that work waits for space, and check the storage now.

    Args:
        context: The context of the DMS.
        name: The storage.
        needed_bytes: Bytes that the work needs. The storage then counts as full for a while. None
            means that no work waits.

    Returns:
        What is free on the storage now.

    Raises:
        UnknownStorage: The storage does not exist.
    """
    async with context.database.connection() as connection:
        storage = await find_storage(connection, name)
        if storage is None:
            raise UnknownStorage(name)
        if needed_bytes is None:
            await delete_missing_space(connection, storage.id)
        else:
            await upsert_missing_space(connection, storage.id, needed_bytes)
    await context.storage_monitor.check_storage(storage.url)
    free_now = context.storage_monitor.free_now
    free = free_on(storage, free_now)
    return StorageSpace(
        free=max(0, int(free)) if isfinite(free) else None, full=is_full(storage, free_now)
    )
