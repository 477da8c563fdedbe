"""The free space of storages."""

from collections.abc import Mapping
from uuid import UUID

from dms.db import storages as sql
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage
from sluice.contracts.data.storage_space import MIN_FREE
from sluice.servicekit.database import Database

#: Why storages get no new data, by storage.
RejectionReasons = Mapping[UUID, str]


#: Free bytes at the last check, by URL of a local storage. No request waits for a check.
FreeBytes = Mapping[str, float]


async def list_storages_by_space(
    database: Database,
    type_: StorageType | None,
    *,
    free_now: FreeBytes,
    rejection_reasons: RejectionReasons | None = None,
) -> list[tuple[Storage, float]]:
    """Return enabled storages without a rejection reason, each with its free bytes."""
    async with database.connection() as connection:
        enabled = await sql.select_storages(connection, type_, disabled=False)
    return sort_by_space(
        [storage for storage in enabled if storage.id not in (rejection_reasons or {})], free_now
    )


def sort_by_space(storages: list[Storage], free_now: FreeBytes) -> list[tuple[Storage, float]]:
    """Return the storages with their free bytes, those with the most free space first."""
    return sorted(
        ((storage, free_on(storage, free_now)) for storage in storages), key=lambda pair: -pair[1]
    )


def is_full(storage: Storage, free_now: FreeBytes) -> bool:
    """Return whether the capacity is used up, or almost nothing is free on the file system."""
    if storage.unused is not None and storage.unused <= 0:
        return True
    return free_now.get(storage.url, MIN_FREE) < MIN_FREE


def free_on(storage: Storage, free_now: FreeBytes) -> float:
    """Return the free bytes of a storage; the rest of its capacity if it was not checked yet."""
    declared = float("inf") if storage.unused is None else float(storage.unused)
    return min(declared, free_now.get(storage.url, declared))
