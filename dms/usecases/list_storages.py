"""Which storages there are, best first."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from math import isfinite
from uuid import UUID

from dms.db import storages as sql
from dms.db.room_needed import room_needed
from dms.db.water_marks import Level, levels
from dms.usecases.context import DmsContext
from sluice.contracts.datasets import Storage
from sluice.contracts.numbers import size_text
from sluice.contracts.room import MIN_FREE
from sluice.contracts.states import StorageType
from sluice.servicekit.database import Database

#: Storage → why it gets no new data.
Objections = Mapping[UUID, str]
#: URL of a local storage → bytes that are free there, as it was looked at last. No request waits
#: for a look.
Room = Mapping[str, float]

#: For so long a storage is full since somebody found no room there for what was to be written.
TOLD = timedelta(minutes=1)


async def list_storages(
    context: DmsContext, type_: StorageType | None, *, everything: bool
) -> list[Storage]:
    """Those that get new data, the ones with the most free space first (capacity less what is known
    on it; on a local file system, no more than was free there; without a limit: unlimited).
    ``everything``: all there are, those that get new data first, and with the reason why an enabled
    one does not, and the water marks.
    """
    database, room = context.database, context.watch.room
    objections = context.watch.objections
    if not everything:
        best = await storages_by_room(database, type_, room=room, objections=objections)
        return [storage for storage, _ in best]
    async with database.connection() as connection:
        known = await sql.select_storages(connection, type_, disabled=True)
        found = await levels(connection)
        needed = await room_needed(connection, age=TOLD)
    listed = [
        _with_warning(storage, objections, found.get(storage.id)).model_copy(
            update=_fullness(storage, context.watch.free, needed.get(storage.id))
        )
        for storage in known
    ]
    best = _with_room([storage for storage in listed if storage.in_use], room)
    return [
        *(storage for storage, _ in best),
        *(storage for storage in listed if not storage.in_use),
    ]


async def measure_storages(context: DmsContext, storages: Sequence[Storage]) -> list[Storage]:
    """Effect: none. Each with the bytes that still fit, as far as they are known, and with how many
    data sets lie there.
    """
    async with context.database.connection() as connection:
        counts = await sql.count_datasets(connection)
    rooms = {storage.id: free_on(storage, context.watch.free) for storage in storages}
    return [
        storage.model_copy(
            update={
                "free": max(0, int(rooms[storage.id])) if isfinite(rooms[storage.id]) else None,
                "datasets": counts.get(storage.id, 0),
            }
        )
        for storage in storages
    ]


def _with_warning(storage: Storage, objections: Objections, level: Level | None) -> Storage:
    marks = {} if level is None else {"marks": level.marks, "filling_since": level.filling_since}
    return storage.model_copy(
        update={"warning": objections.get(storage.id) if storage.enabled else None, **marks}
    )


async def storages_by_room(
    database: Database,
    type_: StorageType | None,
    *,
    room: Room,
    objections: Objections | None = None,
) -> list[tuple[Storage, float]]:
    """Enabled ones to which there is no objection, each with its free bytes."""
    async with database.connection() as connection:
        enabled = await sql.select_storages(connection, type_, disabled=False)
    return _with_room(
        [storage for storage in enabled if storage.id not in (objections or {})], room
    )


def _with_room(storages: list[Storage], room: Room) -> list[tuple[Storage, float]]:
    return sorted(
        ((storage, free_on(storage, room)) for storage in storages), key=lambda pair: -pair[1]
    )


def _fullness(storage: Storage, room: Room, needed: int | None) -> dict[str, str | int | None]:
    """Return ``full`` and ``full_for`` of the storage.

    Args:
        storage: Without what is told in lists alone.
        room: Bytes that are free on local file systems, by URL.
        needed: Bytes that work has found no room for lately, as pilots say.
    """
    has_no_room = is_full(storage, room)
    if not needed and not has_no_room:
        return {}
    free = free_on(storage, room)
    if needed and isfinite(free) and free >= needed and not has_no_room:
        return {}  # what jobs wrote together was too much: one by one they fit
    said = f"{size_text(max(0.0, free))} free" if isfinite(free) else "what is free is not known"
    if storage.capacity is not None:
        said += f" of {size_text(storage.capacity)}"
    if needed:
        said += f", {size_text(needed)} needed"
    return {"full": said, "full_for": None if has_no_room else needed}


def is_full(storage: Storage, room: Room) -> bool:
    """Return whether the capacity is used up, or next to nothing is free on the file system."""
    if storage.room is not None and storage.room <= 0:
        return True
    return room.get(storage.url, MIN_FREE) < MIN_FREE


def free_on(storage: Storage, room: Room) -> float:
    """Return the bytes that still fit. A storage that was not looked at yet has what its capacity
    leaves.
    """
    declared = float("inf") if storage.room is None else float(storage.room)
    return min(declared, room.get(storage.url, declared))
