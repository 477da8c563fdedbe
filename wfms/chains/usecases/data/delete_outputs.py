"""Ask the DMS to delete outputs that chains released.

Outputs may be last copies, which the DMS deletes only if forced (invariant 4). Discarding a chain
means this, and so does canceling a chain that uploads its output, which may have arrived unnoticed.
So these deletions do not go through the watcher. As there, a data set is marked as handed over
after the DMS has taken it over, so it may be asked for twice.
"""

from contextlib import suppress

from sluice.contracts.common.problems import NotFound
from wfms.chains.db import datasets
from wfms.chains.usecases.context import ChainsContext

BATCH = 50


async def delete_outputs(context: ChainsContext) -> bool:
    """Have the DMS delete released outputs that it was asked to upload.

    Returns:
        Whether there may be more.

    Raises:
        ServiceError: The DMS does not answer. The loop tries again.
    """
    database = context.database
    async with database.connection() as connection:
        uids = await datasets.list_undelivered_outputs(connection, limit=BATCH)
    for uid in uids:
        with suppress(NotFound):  # the DMS has deleted it already
            await context.dms.delete_dataset(uid, force=True)
        async with database.connection() as connection:
            await datasets.mark_handed_over(connection, [uid], now=database.clock.now())
    return len(uids) == BATCH
