"""Register a storage."""

from collections.abc import Sequence
from uuid import uuid4

from dms.db.storages import find_same_storage, insert_storage, list_roots, lock_storages, set_folder
from dms.domain.differences import require_same_request
from dms.domain.places import Root
from dms.domain.storage_errors import StorageRefused
from dms.domain.storage_urls import InvalidStorageUrl, require_storage_url
from dms.usecases.context import DmsContext
from dms.usecases.storages.probe_storage import probe_storage
from sluice.contracts.data.datasets import NewStorage, Storage
from sluice.servicekit.database import Database
from sluice.text.visible_text import quoted


async def register_storage(context: DmsContext, new: NewStorage) -> tuple[Storage, bool]:
    """Register a storage after it was probed, and return it with True.

    If its name is registered with the same request, return the first one with False.

    Raises:
        Conflict: The name or the URL is registered differently.
        StorageRefused: It may not be at this URL, or cannot be used.
        StoragesOverlap: It overlaps with another storage.
    """
    async with context.database.connection() as connection:
        first = await find_same_storage(connection, new)
    if first is not None:
        return _same(first, new), False
    try:
        require_storage_url(new.url)
    except InvalidStorageUrl as error:
        raise StorageRefused(new.name, new.url, str(error)) from error
    path, others = await _compare(context, new)
    await probe_storage(context.files, new)
    while (answer := await _insert(context.database, new, others, path)) is None:
        path, others = await _compare(context, new)
    await context.storage_monitor.judge()
    return answer


async def _compare(context: DmsContext, new: NewStorage) -> tuple[str | None, list[Root]]:
    """Return the path of its folder without links, and all storages it was compared with."""
    async with context.database.connection() as connection:
        others = list((await list_roots(connection)).values())
    # A concurrent registration of the same storage is found when this one is inserted.
    remaining = [other for other in others if new.name != other.name and new.url != other.url]
    return await context.storage_monitor.require_free(new.name, new.url, remaining), others


async def _insert(
    database: Database, new: NewStorage, other_roots: Sequence[Root], path: str | None
) -> tuple[Storage, bool] | None:
    """Insert a storage; return None if others were registered meanwhile and must be compared."""
    async with database.transaction() as transaction:
        connection = transaction.connection
        await lock_storages(connection)
        first = await find_same_storage(connection, new)
        if first is not None:
            return _same(first, new), False
        if (await list_roots(connection)).keys() != {other.id for other in other_roots}:
            return None
        uid = uuid4()
        await insert_storage(connection, uid, new)
        await set_folder(connection, uid, path)
    return Storage(id=uid, enabled=True, used=0, **new.model_dump()), True


def _same(first: Storage, new: NewStorage) -> Storage:
    what = f"storage {quoted(first.name)} at {first.url}"
    registered = first.model_dump(include=set(NewStorage.model_fields))
    require_same_request(what, registered, new.model_dump(), storage=first.id)
    return first
