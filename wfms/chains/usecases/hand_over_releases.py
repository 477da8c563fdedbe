"""Hands released data sets to the watcher, which has them deleted.

How no deletion gets lost. A release is a row: ``released_at`` is set in the transaction that makes
it true, ``handed_over_at`` only after the watcher has said that it has taken it over (its own
transaction: the data set noted, the deletion in its outbox). Whatever lies between may happen twice
and never not at all:

* The answer to ``POST /tasks/finished`` names everything released and not handed over: the quick
  way, taken together with the mark that the end was reported. If the answer is lost, the report is
  repeated and the answer too.
* This loop posts the same rows until the watcher has confirmed them: the only way for what is
  released without a report (a chain canceled before its first task, a step that could not be
  started), and the net under the quick way.

The watcher notes every data set it has had deleted, so both ways together send one deletion; the
DMS takes a second one for done.
"""

from sluice.contracts.chains import Release
from wfms.chains.db import datasets
from wfms.chains.usecases.context import ChainsContext

BATCH = 500


async def hand_over_releases(context: ChainsContext) -> bool:
    """Effect: data sets released are in the watcher's hands and marked so. Messages: none. Errors:
    ``ServiceError`` where the watcher does not answer (tried again by the loop). True when there
    may be more."""
    database = context.database
    async with database.connection() as connection:
        uids = await datasets.all_undelivered(connection, limit=BATCH)
    if not uids:
        return False
    await context.watcher.release(Release(datasets=uids))
    async with database.connection() as connection:
        await datasets.mark_handed_over(connection, uids, now=database.clock.now())
    return len(uids) == BATCH
