"""Ask the watcher to follow the uploads of workflow outputs."""

from sluice.contracts.chains.chains import Watch
from sluice.contracts.common.states import WatchKind
from wfms.chains.db import datasets
from wfms.chains.usecases.context import ChainsContext

BATCH = 100


async def watch_uploads(context: ChainsContext) -> bool:
    """Inform the watcher of each new upload, and return whether there may be more.

    After a crash an upload may be sent again, which is harmless.

    Raises:
        ServiceError: The watcher does not answer. The loop tries again.
    """
    database = context.database
    async with database.connection() as connection:
        uploads = await datasets.list_uploads_to_watch(connection, limit=BATCH)
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
