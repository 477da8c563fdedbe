"""Tells the watcher to follow the uploads of workflow outputs."""

from sluice.contracts.chains import Watch
from sluice.contracts.states import WatchKind
from wfms.chains.db import datasets
from wfms.chains.usecases.context import ChainsContext

BATCH = 100


async def watch_uploads(context: ChainsContext) -> bool:
    """Effect: tells the watcher of each upload that it has not been told of. A crash before the
    note of it repeats the telling, which is harmless. Messages: none. Errors: ``ServiceError``
    where the watcher does not answer (tried again by the loop). True when there may be more."""
    database = context.database
    async with database.connection() as connection:
        uploads = await datasets.uploads_to_watch(connection, limit=BATCH)
    for upload in uploads:
        await context.watcher.watch(
            Watch(
                kind=WatchKind.UPLOAD,
                uid=upload.dataset,
                chain_uid=upload.chain,
                step=upload.step,
                dat_in_uid=upload.source,
                dat_out_uid=upload.dataset,
            )
        )
        async with database.connection() as connection:
            await datasets.mark_watched(connection, upload, now=database.clock.now())
    return len(uploads) == BATCH
