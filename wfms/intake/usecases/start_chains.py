"""Hand matched data sets over to the chain service."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import structlog

from sluice.contracts.common.problems import Conflict, ServiceError, Unprocessable
from sluice.scheduling.backoff import pause_after
from sluice.servicekit.database import Database
from sluice.servicekit.running.logging import log_ids
from wfms.intake.db import intake
from wfms.intake.db.intake import Handover
from wfms.intake.usecases.context import IntakeContext

log = structlog.get_logger(__name__)

BATCH = 16
#: Pause in seconds after the first handover that failed. It doubles with each attempt.
FIRST_PAUSE = 0.5
#: Longest pause in seconds while a quota is used up.
FULL_PAUSE = 2.0


async def start_chains(context: IntakeContext) -> bool:
    """Hand over the data sets that wait, and return whether there may be more.

    A decision that the chain service accepts is deleted here. A decision that it refuses becomes an
    unmatched data set with the reasons. Otherwise it waits. Repeating it is harmless: the chain
    service returns the first chain.
    """
    database = context.database
    token = uuid4()
    try:
        async with database.connection() as connection:
            claimed = await intake.claim_handovers(
                connection, token, claim_duration=context.claim_duration, limit=BATCH
            )
        await asyncio.gather(*(_hand_over(context, handover) for handover in claimed))
    except asyncio.CancelledError:  # at a stop, another instance continues at once
        async with database.connection() as connection:
            await intake.release_handovers(connection, token)
        raise
    return len(claimed) == BATCH


async def _hand_over(context: IntakeContext, handover: Handover) -> None:
    database = context.database
    with log_ids(dataset=handover.dataset):
        try:
            chain = await context.chains.create_chain(handover.chain)
        except (Unprocessable, Conflict) as refusal:
            await _record_refusal(database, handover, refusal)
        except ServiceError as error:
            # The rest of a quota goes to the first request, so ask again soon.
            full = "quantity" in error.fields
            longest_pause = FULL_PAUSE if full else context.longest_pause.total_seconds()
            seconds = pause_after(handover.attempts, first=FIRST_PAUSE, max_pause=longest_pause)
            async with database.connection() as connection:
                await intake.postpone_handover(
                    connection,
                    handover.dataset,
                    pause=timedelta(seconds=seconds),
                    reason=error.detail,
                )
            log.warning("handover.postponed", attempts=handover.attempts, reason=error.detail)
        else:
            async with database.connection() as connection:
                await intake.delete_handover(connection, handover.dataset)
            log.info("handover.done", chain=str(chain.uid))


async def _record_refusal(database: Database, handover: Handover, refusal: ServiceError) -> None:
    now = database.clock.now()
    async with database.transaction() as transaction:
        if await intake.delete_handover(transaction.connection, handover.dataset):
            await intake.store_unmatched(
                transaction.connection,
                handover.chain.dataset,
                reason=refusal.detail,
                now=now,
                findings=refusal.findings,
            )
    log.warning("handover.refused", reason=refusal.detail)
