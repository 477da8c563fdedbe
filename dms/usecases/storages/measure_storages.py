"""Measure the free space of storages, and count their data sets."""

from collections.abc import Sequence
from math import isfinite

from dms.db import storages as sql
from dms.usecases.context import DmsContext
from dms.usecases.storages.free_space import free_on
from sluice.contracts.data.datasets import Storage


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
