"""Release the data that failed and canceled chains kept for a rerun, once its time is over."""

from sluice.servicekit.database import Database
from wfms.chains.db import chains
from wfms.chains.usecases.chains.advance_chain import advance_chain

BATCH = 50


async def expire_rerun_data(database: Database) -> bool:
    """Release the data of chains whose time is over, and return whether there may be more."""
    now = database.clock.now()
    async with database.connection() as connection:
        uids = await chains.list_expired_rerun_data(connection, now=now, limit=BATCH)
    for uid in uids:
        async with database.transaction() as transaction:
            await chains.lock_chain_row(transaction.connection, uid)
            await chains.end_rerun_retention(transaction.connection, uid)
            await advance_chain(transaction, uid, now=now)
    return len(uids) == BATCH
