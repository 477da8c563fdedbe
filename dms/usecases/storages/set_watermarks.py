"""Set or remove the watermarks of an input storage."""

from dms.db.storages import find_storage
from dms.db.watermarks import delete_marks, put_marks
from dms.domain.storage_errors import UnknownStorage, WatermarksRefused
from dms.domain.watermarks import effective_capacity, find_rejection_reason
from dms.usecases.context import DmsContext
from dms.usecases.storages.list_storages import list_storages
from dms.usecases.storages.watch_watermarks import watch_watermarks
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage, Watermarks


async def set_watermarks(context: DmsContext, name: str, marks: Watermarks | None) -> Storage:
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
