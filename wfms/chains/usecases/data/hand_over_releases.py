"""Hand released data sets over to the watcher, which has them deleted.

No deletion may get lost. A release is a row: ``released_at`` is set in the transaction that
releases the data set. ``handed_over_at`` is set only after the watcher has confirmed that it has
taken the data set over, with the deletion in its own outbox. So what happens between them may
happen twice, but happens at least once.

* The answer to ``POST /tasks/finished`` names all data sets that are released and not handed over.
  This is the quick way: the watcher stores them together with the mark that the end was reported.
  If the answer is lost, the report is repeated, and so is the answer.
* This loop sends the same rows until the watcher has confirmed them. It is the only way for
  releases without a report: a chain canceled before its first task, or a step that could not be
  started. It also covers failures of the quick way.

The watcher records every data set that it has had deleted, so both ways together send one deletion.
The DMS ignores a second one.
"""

from sluice.contracts.chains.chains import Release
from wfms.chains.db import datasets
from wfms.chains.usecases.context import ChainsContext

BATCH = 500


async def hand_over_releases(context: ChainsContext) -> bool:
    """Hand released data sets over to the watcher, and return whether there may be more.

    Raises:
        ServiceError: The watcher does not answer. The loop tries again.
    """
    database = context.database
    async with database.connection() as connection:
        uids = await datasets.list_all_undelivered(connection, limit=BATCH)
    if not uids:
        return False
    await context.watcher.release(Release(datasets=uids))
    async with database.connection() as connection:
        await datasets.mark_handed_over(connection, uids, now=database.clock.now())
    return len(uids) == BATCH
