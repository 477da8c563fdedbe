"""Detect when an input storage reaches or leaves its watermarks."""

import structlog

from dms.db.watermarks import list_levels, set_filling
from dms.domain.watermarks import effective_capacity, fills
from dms.usecases.storages.free_space import FreeBytes
from sluice.servicekit.database import Database

log = structlog.get_logger(__name__)


async def watch_watermarks(database: Database, free: FreeBytes) -> bool:
    """Update which storages are filling, and log changes; return False: there is no more work.

    A storage is filling from its high watermark until it is below the low one. ``free`` has the
    free bytes of file systems when they last answered.
    """
    async with database.connection() as connection:
        for level in (await list_levels(connection)).values():
            before = level.filling_since is not None
            capacity = effective_capacity(
                level.capacity, used_bytes=level.used, free=free.get(level.url)
            )
            filling = fills(level.used, level.marks, total=capacity, before=before)
            if filling is not before and await set_filling(connection, level, filling=filling):
                log.info(
                    "storage.fills" if filling else "storage.has_space",
                    storage=level.name,
                    used=level.used,
                )
    return False
