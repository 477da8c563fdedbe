"""Gauges of the fill levels of storages."""

from collections.abc import Sequence
from functools import partial
from math import isfinite

from dms.usecases.storages.list_storages import Room, storages_by_room
from sluice.servicekit.database import Database
from sluice.servicekit.gauges import Measurement, Rows


async def measure_use(database: Database) -> Rows:
    """Return name, type and registered bytes of each enabled storage."""
    return [
        (storage.name, storage.type, storage.used)
        for storage, _ in await storages_by_room(database, None, room={})
    ]


async def measure_room(database: Database, *, room: Room) -> Rows:
    """Return name, type and free bytes of each enabled storage that has a limit."""
    found = await storages_by_room(database, None, room=room)
    return [(storage.name, storage.type, free) for storage, free in found if isfinite(free)]


def measurements(room: Room) -> Sequence[Measurement]:
    """Return the gauges."""
    return (
        Measurement(
            "sluice_storage_used_bytes",
            "Bytes of the files known on a storage.",
            measure_use,
            ("storage", "type"),
        ),
        Measurement(
            "sluice_storage_free_bytes",
            "Bytes that still fit: its capacity less what is known on it, no more than its file"
            " system has.",
            partial(measure_room, room=room),
            ("storage", "type"),
        ),
    )
