"""Accepts a watch: the watcher follows the task or upload from now on."""

from sluice.contracts.chains import Watch, Watched
from sluice.servicekit.database import Database
from wfms.watcher.db.watches import insert_watch, select_watches


async def accept_watch(database: Database, watch: Watch) -> Watched:
    """Effect: it is followed from now on; a repetition answers with the first. Messages: none.
    Errors: none.
    """
    async with database.transaction() as transaction:
        await insert_watch(transaction.connection, watch, now=database.clock.now())
        (watched,) = await select_watches(transaction.connection, uid=watch.uid)
    return watched
