"""Registering a storage."""

from collections.abc import Sequence
from uuid import uuid4

from dms.db.storages import all_roots, insert_storage, lock_storages, set_folder, storage_like
from dms.domain.differences import require_same_request
from dms.domain.places import Root
from dms.domain.storage_errors import StorageRefused
from dms.domain.storage_urls import WrongStorageUrl, require_storage_url
from dms.usecases.context import DmsContext
from dms.usecases.file_work import LOOK_LIMIT, FileWork
from sluice.contracts.datasets import NewStorage, Storage
from sluice.servicekit.database import Database
from sluice.storage import StorageError
from sluice.visible_text import quoted


async def register_storage(context: DmsContext, new: NewStorage) -> tuple[Storage, bool]:
    """Effect: an enabled storage, which was tried out; of a name that is known, the first (then
    False).

    Raises ``Conflict`` where the name or the URL is registered differently; ``StorageRefused`` for
    a whole file system, a URL that is no plain path, a place where storages may not be, or one that
    cannot be used; ``StoragesOverlap``.
    """
    async with context.database.connection() as connection:
        first = await storage_like(connection, new)
    if first is not None:
        return _same(first, new), False
    try:
        require_storage_url(new.url)
    except WrongStorageUrl as error:
        raise StorageRefused(new.name, new.url, str(error)) from error
    path, others = await _compared(context, new)
    await try_out(context.files, new)
    while (answer := await _insert(context.database, new, others, path)) is None:
        path, others = await _compared(context, new)
    await context.watch.judge()
    return answer


async def try_out(files: FileWork, storage: NewStorage) -> None:
    """Raises ``StorageRefused`` where the DMS cannot use it."""
    try:
        await files.probe(storage.url, read_only=storage.read_only)
    except StorageError as error:
        use = (
            "read its list of files" if storage.read_only else "write, read and delete a file there"
        )
        raise StorageRefused(
            storage.name, storage.url, f"cannot be used, the DMS has to {use}: {error.reason}"
        ) from error
    except TimeoutError as error:
        raise StorageRefused(
            storage.name, storage.url, f"has not answered within {LOOK_LIMIT:g} s"
        ) from error


async def _compared(context: DmsContext, new: NewStorage) -> tuple[str | None, list[Root]]:
    """Where it lies, without links, and the storages with which it was compared."""
    async with context.database.connection() as connection:
        others = list((await all_roots(connection)).values())
    # The same one, registered by somebody at this moment, is found when this one is to be added.
    apart = [other for other in others if new.name != other.name and new.url != other.url]
    return await context.watch.require_free(new.name, new.url, apart), others


async def _insert(
    database: Database, new: NewStorage, others: Sequence[Root], path: str | None
) -> tuple[Storage, bool] | None:
    """None where somebody has registered another one meanwhile: it must be compared with that,
    too.
    """
    async with database.transaction() as transaction:
        connection = transaction.connection
        await lock_storages(connection)
        first = await storage_like(connection, new)
        if first is not None:
            return _same(first, new), False
        if (await all_roots(connection)).keys() != {other.id for other in others}:
            return None
        uid = uuid4()
        await insert_storage(connection, uid, new)
        await set_folder(connection, uid, path)
    return Storage(id=uid, enabled=True, used=0, **new.model_dump()), True


def _same(first: Storage, new: NewStorage) -> Storage:
    what = f"storage {quoted(first.name)} at {first.url}"
    known = first.model_dump(include=set(NewStorage.model_fields))
    require_same_request(what, known, new.model_dump(), storage=first.id)
    return first
