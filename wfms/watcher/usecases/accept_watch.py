"""Accept a watch."""

from sluice.contracts.chains.chains import Watch, Watched
from sluice.servicekit.database import Database
from wfms.watcher.db.watches import insert_watch, list_watches


async def accept_watch(database: Database, watch: Watch) -> Watched:
    """Store a watch and return it. A repetition returns the first watch."""
    async with database.transaction() as transaction:
        await insert_watch(transaction.connection, watch, now=database.clock.now())
        (watched,) = await list_watches(transaction.connection, uid=watch.uid)
    return watched
