"""Watermarks of input storages: set them, and detect when a storage reaches or leaves them."""

from collections.abc import Sequence
from uuid import UUID

import structlog

from dms.db.storages import find_storage
from dms.db.watermarks import (
    delete_marks,
    list_datasets_on_storage,
    list_levels,
    put_marks,
    set_filling,
)
from dms.domain.storage_errors import UnknownStorage, WatermarksRefused
from dms.domain.watermarks import effective_capacity, fills, find_rejection_reason
from dms.usecases.context import DmsContext
from dms.usecases.storages.list_storages import FreeBytes, list_storages
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage, Watermarks
from sluice.servicekit.database import Database

log = structlog.get_logger(__name__)


async def set_marks(context: DmsContext, name: str, marks: Watermarks | None) -> Storage:
    """Set or remove the watermarks of a storage; new values reset its filling state.

    Raises:
        UnknownStorage: The storage does not exist.
        WatermarksRefused: It is no input storage, or cannot have these watermarks.
    """
    database, monitor = context.database, context.storage_monitor
    async with database.connection() as connection:
        storage = await find_storage(connection, name)
    if storage is not None and marks is not None:
        await monitor.ensure_checked(storage.url)
    async with database.transaction() as transaction:
        storage = await find_storage(transaction.connection, name)
        if storage is None:
            raise UnknownStorage(name)
        if marks is None:
            await delete_marks(transaction.connection, storage.id)
        else:
            _require_fitting(storage, marks, monitor.free.get(storage.url))
            await put_marks(transaction.connection, storage.id, marks)
    await watch_watermarks(database, monitor.free)
    listed = await list_storages(context, storage.type, everything=True)
    return next((other for other in listed if other.id == storage.id), storage)


def _require_fitting(storage: Storage, marks: Watermarks, free: float | None) -> None:
    if storage.type is not StorageType.INPUT:
        raise WatermarksRefused(
            storage.name, f"are for input storages, and it is of type {storage.type}"
        )
    capacity = effective_capacity(storage.capacity, used_bytes=storage.used, free=free)
    if why := find_rejection_reason(marks, storage.capacity, total=capacity):
        raise WatermarksRefused(storage.name, why)


async def find_on_storage(database: Database, name: str, uids: Sequence[UUID]) -> list[UUID]:
    """Return those of the data sets whose first file is on the storage.

    Raises:
        UnknownStorage: The storage does not exist.
    """
    async with database.connection() as connection:
        storage = await find_storage(connection, name)
        if storage is None:
            raise UnknownStorage(name)
        return await list_datasets_on_storage(connection, storage.id, uids)


async def watch_watermarks(database: Database, free: FreeBytes) -> bool:
    """Update which storages are filling, and log changes; return False: there is no more work.

    A storage is filling from its high watermark until it is below the low one. ``free`` has the
    free bytes of file systems when they last answered.
    """
    async with database.connection() as connection:
        for level in (await list_levels(connection)).values():
            before = level.filling_since is not None
            capacity = effective_capacity(
                level.capacity, used_bytes=level.used, free=free.get(level.url)
            )
            filling = fills(level.used, level.marks, total=capacity, before=before)
            if filling is not before and await set_filling(connection, level, filling=filling):
                log.info(
                    "storage.fills" if filling else "storage.has_space",
                    storage=level.name,
                    used=level.used,
                )
    return False
