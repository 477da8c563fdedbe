"""The free space of storages."""

from collections.abc import Mapping
from uuid import UUID

from sluice.contracts.data.datasets import Storage
from sluice.contracts.data.storage_space import MIN_FREE

#: Why storages get no new data, by storage.
RejectionReasons = Mapping[UUID, str]


#: Free bytes at the last check, by URL of a local storage. No request waits for a check.
FreeBytes = Mapping[str, float]


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
