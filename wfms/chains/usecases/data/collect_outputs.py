"""Append outputs of finished chains to the append-only data sets that collect them.

The transaction that finishes a chain writes a row for each output to collect. Until the DMS has
appended the output, it is kept, even if the chain is discarded. The DMS takes each output once, so
repeating the request after a crash has no effect.
"""

import structlog

from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.data.append_only import Collected, CollectFiles
from sluice.servicekit.running.logging import log_ids
from wfms.chains.db import chains
from wfms.chains.db.collections import WaitingCollection, end_collection, list_waiting_collections
from wfms.chains.usecases.chains.advance_chain import advance_chain
from wfms.chains.usecases.context import ChainsContext

log = structlog.get_logger(__name__)

BATCH = 50


async def collect_outputs(context: ChainsContext) -> bool:
    """Ask the DMS to append the outputs that wait, and return whether there may be more.

    If the DMS refuses an output, the reason is stored. Data that a discarded chain kept
    for the collection is then released.

    Raises:
        ServiceError: The DMS does not answer. The loop tries again.
    """
    database = context.database
    async with database.connection() as connection:
        waiting = await list_waiting_collections(connection, limit=BATCH)
    for collection in waiting:
        with log_ids(chain=collection.chain, dataset=collection.dataset):
            outcome = await _collect(context, collection)
            now = database.clock.now()
            async with database.transaction() as transaction:
                await chains.lock_chain_row(transaction.connection, collection.chain)
                await end_collection(transaction.connection, collection, outcome, now=now)
                await advance_chain(transaction, collection.chain, now=now)
    return len(waiting) == BATCH


async def _collect(context: ChainsContext, collection: WaitingCollection) -> Collected | str:
    try:
        return await context.dms.collect_files(
            collection.dataset,
            CollectFiles(into=collection.into, group=collection.group),
            made_of=collection.input,
        )
    except (Conflict, Unprocessable, NotFound) as refusal:
        log.error("output.not_collected", append_only=collection.into.name, reason=refusal.detail)
        return refusal.detail
