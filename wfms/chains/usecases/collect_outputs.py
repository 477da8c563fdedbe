"""Has outputs of finished chains appended to the standing data sets that collect them.

That an output is to be collected is a row, written in the transaction that finishes the chain;
until the DMS has appended it, the output stays, whoever discards the chain. The DMS takes each
output once, so that a repetition after a crash does nothing.
"""

import structlog

from sluice.contracts.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.standing import Collected, CollectFiles
from sluice.servicekit.logging import log_ids
from wfms.chains.db import chains
from wfms.chains.db.collections import WaitingCollection, end_collection, waiting_collections
from wfms.chains.usecases.advance_chain import advance_chain
from wfms.chains.usecases.context import ChainsContext

log = structlog.get_logger(__name__)

BATCH = 50


async def collect_outputs(context: ChainsContext) -> bool:
    """Effect: outputs that are to be collected are, or it is noted why the DMS refused it; what a
    discarded chain kept for it is released. Messages: those of ``advance_chain``. Errors:
    ``ServiceError`` where the DMS does not answer (tried again by the loop). True when there may be
    more."""
    database = context.database
    async with database.connection() as connection:
        waiting = await waiting_collections(connection, limit=BATCH)
    for asked in waiting:
        with log_ids(chain=asked.chain, dataset=asked.dataset):
            outcome = await _collect(context, asked)
            now = database.clock.now()
            async with database.transaction() as transaction:
                await chains.hold_chain(transaction.connection, asked.chain)
                await end_collection(transaction.connection, asked, outcome, now=now)
                await advance_chain(transaction, asked.chain, now=now)
    return len(waiting) == BATCH


async def _collect(context: ChainsContext, asked: WaitingCollection) -> Collected | str:
    try:
        return await context.dms.collect(
            asked.dataset,
            CollectFiles(into=asked.into, group=asked.group),
            made_of=asked.input,
        )
    except (Conflict, Unprocessable, NotFound) as refusal:
        log.error("output.not_collected", standing=asked.into.name, reason=refusal.detail)
        return refusal.detail
