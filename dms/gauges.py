"""The gauges of the DMS."""

from functools import partial
from math import isfinite

from dms.db.gauges import MEASUREMENTS
from dms.usecases.storages.free_space import FreeBytes
from dms.usecases.storages.list_storages_by_space import list_storages_by_space
from sluice.servicekit.database import Database
from sluice.servicekit.gauges import Measurement, Rows


def declare_gauges(free_now: FreeBytes) -> list[Measurement]:
    """Return the declarations of the gauges; ``free_now`` has the free bytes of file systems."""
    return [
        *MEASUREMENTS,
        Measurement(
            "sluice_storage_used_bytes",
            "Bytes of the replicas on a storage.",
            _measure_use,
            ("storage", "type"),
        ),
        Measurement(
            "sluice_storage_free_bytes",
            "Bytes that still fit: the capacity without the replicas, at most the free space of the"
            " file system.",
            partial(_measure_space, free_now=free_now),
            ("storage", "type"),
        ),
    ]


async def _measure_use(database: Database) -> Rows:
    """Return name, type and registered bytes of each enabled storage."""
    return [
        (storage.name, storage.type, storage.used)
        for storage, _ in await list_storages_by_space(database, None, free_now={})
    ]


async def _measure_space(database: Database, *, free_now: FreeBytes) -> Rows:
    """Return name, type and free bytes of each enabled storage that has a limit."""
    storages = await list_storages_by_space(database, None, free_now=free_now)
    return [(storage.name, storage.type, free) for storage, free in storages if isfinite(free)]
