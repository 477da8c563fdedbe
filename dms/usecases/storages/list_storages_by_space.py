"""List the storages that can take data, by their free space."""

from dms.db import storages as sql
from dms.usecases.storages.free_space import FreeBytes, RejectionReasons, sort_by_space
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage
from sluice.servicekit.database import Database


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
