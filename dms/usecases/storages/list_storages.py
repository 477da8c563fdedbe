"""List storages, those with the most free space first."""

from datetime import timedelta
from math import isfinite

from dms.db import storages as sql
from dms.db.missing_space import list_missing_space
from dms.db.watermarks import Level, list_levels
from dms.usecases.context import DmsContext
from dms.usecases.storages.free_space import (
    FreeBytes,
    RejectionReasons,
    free_on,
    is_full,
    sort_by_space,
)
from dms.usecases.storages.list_storages_by_space import list_storages_by_space
from sluice.contracts.common.numbers import size_text
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage

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
        best = await list_storages_by_space(
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
    best = sort_by_space([storage for storage in listed if storage.in_use], free_now)
    return [
        *(storage for storage, _ in best),
        *(storage for storage in listed if not storage.in_use),
    ]


def _with_warning(
    storage: Storage, rejection_reasons: RejectionReasons, level: Level | None
) -> Storage:
    marks = {} if level is None else {"marks": level.marks, "filling_since": level.filling_since}
    return storage.model_copy(
        update={"warning": rejection_reasons.get(storage.id) if storage.enabled else None, **marks}
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
