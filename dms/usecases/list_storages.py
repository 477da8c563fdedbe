"""Which storages there are, best first."""

import asyncio
import shutil
from collections.abc import Mapping
from uuid import UUID

from dms.db import storages as sql
from dms.db.water_marks import Level, levels
from sluice.contracts.datasets import Storage
from sluice.contracts.states import StorageType
from sluice.servicekit.database import Database
from sluice.storage import local_path

#: Storage → why it gets no new data.
Objections = Mapping[UUID, str]


async def list_storages(
    database: Database, type_: StorageType | None, *, objections: Objections, everything: bool
) -> list[Storage]:
    """Those that get new data, the ones with the most free space first (capacity less what is known on it; on a local file
    system, no more than is free there; without a limit: unlimited). ``everything``: all there are, those that get new data
    first, and with the reason why an enabled one does not, and the water marks."""
    if not everything:
        return [storage for storage, _ in await storages_by_room(database, type_, objections)]
    async with database.connection() as connection:
        known = await sql.list_storages(connection, type_, disabled=True)
        found = await levels(connection)
    told = [_told(one, objections, found.get(one.id)) for one in known]
    best = await _with_room([one for one in told if one.in_use])
    return [*(storage for storage, _ in best), *(one for one in told if not one.in_use)]


def _told(storage: Storage, objections: Objections, level: Level | None) -> Storage:
    more = {} if level is None else {"marks": level.marks, "filling_since": level.filling_since}
    return storage.model_copy(update={"warning": objections.get(storage.id) if storage.enabled else None, **more})


async def storages_by_room(
    database: Database, type_: StorageType | None, objections: Objections | None = None
) -> list[tuple[Storage, float]]:
    """Enabled ones to which there is no objection, each with its free bytes."""
    async with database.connection() as connection:
        enabled = await sql.list_storages(connection, type_, disabled=False)
    return await _with_room([storage for storage in enabled if storage.id not in (objections or {})])


async def _with_room(storages: list[Storage]) -> list[tuple[Storage, float]]:
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
