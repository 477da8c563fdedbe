"""Read watches."""

from sluice.contracts.chains.chains import WatchList
from sluice.contracts.common.states import WatchState
from sluice.servicekit.database import Database
from wfms.watcher.db.watches import list_watches


async def read_watches(database: Database, *, state: WatchState | None, limit: int) -> WatchList:
    """Return watches, newest first. ``state``: None for all."""
    async with database.connection() as connection:
        return WatchList(tasks=await list_watches(connection, state=state, limit=limit))
