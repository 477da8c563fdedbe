"""Which storages there are, best first."""

import asyncio
import shutil

from dms.db.storages import enabled_storages
from sluice.contracts.datasets import Storage
from sluice.contracts.states import StorageType
from sluice.servicekit.database import Database
from sluice.storage import local_path


async def list_storages(database: Database, type_: StorageType | None) -> list[Storage]:
    """Enabled storages, those with the most free space first (capacity less what is known on it; on a local file system, no more
    than is free there). Without a limit: unlimited."""
    return [storage for storage, _ in await storages_by_room(database, type_)]


async def storages_by_room(database: Database, type_: StorageType | None) -> list[tuple[Storage, float]]:
    """As ``list_storages``, each with its free bytes."""
    async with database.connection() as connection:
        storages = await enabled_storages(connection, type_)
    free = await asyncio.to_thread(lambda: [_free(storage) for storage in storages])
    return sorted(zip(storages, free, strict=True), key=lambda pair: -pair[1])


def _free(storage: Storage) -> float:
    declared = float("inf") if storage.capacity is None else float(storage.capacity - storage.used)
    path = local_path(storage.url)
    if path is None:
        return declared
    while True:
        try:
            return min(declared, float(shutil.disk_usage(path).free))
        except FileNotFoundError:
            path = path.rpartition("/")[0] or "/"  # not made yet: what holds its parent will hold it
        except OSError:
            return min(declared, 0.0)
