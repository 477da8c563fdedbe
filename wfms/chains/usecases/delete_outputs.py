"""Asks the DMS to delete outputs that chains gave up.

They may be last copies: the DMS deletes such only for who says so (invariant 4), which is what
discarding a chain means, and canceling one whose output is on its way: that may have arrived before
anybody was told. So they do not take the watcher's way. As there, a data set is marked as handed
over after the DMS has taken it over, and before that may be asked for twice.
"""

from contextlib import suppress

from sluice.contracts.problems import NotFound
from wfms.chains.db import datasets
from wfms.chains.usecases.context import ChainsContext

BATCH = 50


async def delete_outputs(context: ChainsContext) -> bool:
    """Effect: the DMS deletes released outputs that it was asked to upload, and they are marked so.
    Messages: none. Errors: ``ServiceError`` where the DMS does not answer (tried again by the
    loop). True when there may be more."""
    database = context.database
    async with database.connection() as connection:
        uids = await datasets.outputs_undelivered(connection, limit=BATCH)
    for uid in uids:
        with suppress(NotFound):  # it is gone: that is what was wanted
            await context.dms.delete_dataset(uid, force=True)
        async with database.connection() as connection:
            await datasets.mark_handed_over(connection, [uid], now=database.clock.now())
    return len(uids) == BATCH
