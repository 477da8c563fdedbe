"""List storages, those with the most free space first."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from math import isfinite
from uuid import UUID

from dms.db import storages as sql
from dms.db.missing_space import list_missing_space
from dms.db.watermarks import Level, list_levels
from dms.usecases.context import DmsContext
from sluice.contracts.common.numbers import size_text
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage
from sluice.contracts.data.storage_space import MIN_FREE
from sluice.servicekit.database import Database

#: Why storages get no new data, by storage.
RejectionReasons = Mapping[UUID, str]
#: Free bytes at the last check, by URL of a local storage. No request waits for a check.
FreeBytes = Mapping[str, float]

#: How long a storage counts as full after work found no space on it.
NEED_MAX_AGE = timedelta(minutes=1)


async def list_storages(
    context: DmsContext, type_: StorageType | None, *, everything: bool
) -> list[Storage]:
    """Return storages, those with the most free space first.

    Free space is the capacity less the registered bytes, but at most what is free on a local file
    system. A storage without a limit has unlimited space.

    Args:
        context: The context of the DMS.
        type_: Only storages of this type.
        everything: Include storages that get no new data, after the others. All storages then have
            their watermarks, and enabled ones the reason why they get no data.
    """
    database, free_now = context.database, context.storage_monitor.free_now
    rejection_reasons = context.storage_monitor.rejection_reasons
    if not everything:
        best = await storages_by_space(
            database, type_, free_now=free_now, rejection_reasons=rejection_reasons
        )
        return [storage for storage, _ in best]
    async with database.connection() as connection:
        storages = await sql.select_storages(connection, type_, disabled=True)
        levels_by_storage = await list_levels(connection)
        needed = await list_missing_space(connection, age=NEED_MAX_AGE)
    listed = [
        _with_warning(storage, rejection_reasons, levels_by_storage.get(storage.id)).model_copy(
            update=_fullness(storage, context.storage_monitor.free, needed.get(storage.id))
        )
        for storage in storages
    ]
    best = _with_space([storage for storage in listed if storage.in_use], free_now)
    return [
        *(storage for storage, _ in best),
        *(storage for storage in listed if not storage.in_use),
    ]


async def measure_storages(context: DmsContext, storages: Sequence[Storage]) -> list[Storage]:
    """Return the storages with their free bytes, if known, and the number of data sets on each."""
    async with context.database.connection() as connection:
        counts = await sql.count_datasets(connection)
    free_bytes = {
        storage.id: free_on(storage, context.storage_monitor.free) for storage in storages
    }
    return [
        storage.model_copy(
            update={
                "free": max(0, int(free_bytes[storage.id]))
                if isfinite(free_bytes[storage.id])
                else None,
                "datasets": counts.get(storage.id, 0),
            }
        )
        for storage in storages
    ]


def _with_warning(
    storage: Storage, rejection_reasons: RejectionReasons, level: Level | None
) -> Storage:
    marks = {} if level is None else {"marks": level.marks, "filling_since": level.filling_since}
    return storage.model_copy(
        update={"warning": rejection_reasons.get(storage.id) if storage.enabled else None, **marks}
    )


async def storages_by_space(
    database: Database,
    type_: StorageType | None,
    *,
    free_now: FreeBytes,
    rejection_reasons: RejectionReasons | None = None,
) -> list[tuple[Storage, float]]:
    """Return enabled storages without a rejection reason, each with its free bytes."""
    async with database.connection() as connection:
        enabled = await sql.select_storages(connection, type_, disabled=False)
    return _with_space(
        [storage for storage in enabled if storage.id not in (rejection_reasons or {})], free_now
    )


def _with_space(storages: list[Storage], free_now: FreeBytes) -> list[tuple[Storage, float]]:
    return sorted(
        ((storage, free_on(storage, free_now)) for storage in storages), key=lambda pair: -pair[1]
    )


def _fullness(
    storage: Storage, free_now: FreeBytes, needed_bytes: int | None
) -> dict[str, str | int | None]:
    """Return the fields ``full`` and ``full_for`` of a storage.

    Args:
        storage: The storage.
        free_now: Free bytes on local file systems, by URL.
        needed_bytes: Bytes for which pilots recently found no space.
    """
    has_no_space = is_full(storage, free_now)
    if not needed_bytes and not has_no_space:
        return {}
    free = free_on(storage, free_now)
    if needed_bytes and isfinite(free) and free >= needed_bytes and not has_no_space:
        return {}  # the jobs fit one by one, but not together
    text = f"{size_text(max(0.0, free))} free" if isfinite(free) else "what is free is not known"
    if storage.capacity is not None:
        text += f" of {size_text(storage.capacity)}"
    if needed_bytes:
        text += f", {size_text(needed_bytes)} needed"
    return {"full": text, "full_for": None if has_no_space else needed_bytes}


def is_full(storage: Storage, free_now: FreeBytes) -> bool:
    """Return whether the capacity is used up, or almost nothing is free on the file system."""
    if storage.unused is not None and storage.unused <= 0:
        return True
    return free_now.get(storage.url, MIN_FREE) < MIN_FREE


def free_on(storage: Storage, free_now: FreeBytes) -> float:
    """Return the free bytes of a storage; the rest of its capacity if it was not checked yet."""
    declared = float("inf") if storage.unused is None else float(storage.unused)
    return min(declared, free_now.get(storage.url, declared))
