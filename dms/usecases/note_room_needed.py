"""Note that work waits for room on a storage, and look at what is free there."""

from math import isfinite

from dms.db.room_needed import delete_needed, put_needed
from dms.db.storages import storage_named
from dms.domain.storage_errors import UnknownStorage
from dms.usecases.context import DmsContext
from dms.usecases.list_storages import free_on, is_full
from sluice.contracts.room import StorageRoom


async def note_room_needed(context: DmsContext, name: str, needed: int | None) -> StorageRoom:
    """Look at a storage anew, and show it as full for a while.

    Args:
        context: What the DMS works with.
        name: Of the storage.
        needed: Bytes that work waits for; None: no work waits, and the storage is not full for it.

    Returns:
        What is free on the storage now.

    Raises:
        UnknownStorage: No storage has this name.
    """
    async with context.database.connection() as connection:
        storage = await storage_named(connection, name)
        if storage is None:
            raise UnknownStorage(name)
        if needed is None:
            await delete_needed(connection, storage.id)
        else:
            await put_needed(connection, storage.id, needed)
    await context.watch.look_at(storage.url)
    room = context.watch.room
    free = free_on(storage, room)
    return StorageRoom(
        free=max(0, int(free)) if isfinite(free) else None, full=is_full(storage, room)
    )
