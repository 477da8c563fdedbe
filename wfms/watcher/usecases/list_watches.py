"""List watches."""

from sluice.contracts.chains.chains import WatchList
from sluice.contracts.common.states import WatchState
from sluice.servicekit.database import Database
from wfms.watcher.db import watches


async def list_watches(database: Database, *, state: WatchState | None, limit: int) -> WatchList:
    """Return watches, newest first. ``state``: None for all."""
    async with database.connection() as connection:
        return WatchList(tasks=await watches.list_watches(connection, state=state, limit=limit))
