"""Marks pilots that stopped answering."""

from datetime import timedelta

import structlog

from wms.db.pilots import mark_started_again, set_lost
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


async def lose_pilots(context: WmsContext) -> None:
    """Precondition: none. Effect: pilots unseen for ``unseen`` seconds are lost (their jobs went
    when the leases ended); one that is heard of again is back. Of lost ones it notes which were
    started again. Messages: none. Errors: none."""
    unseen = timedelta(seconds=context.terms.unseen)
    async with context.database.transaction() as transaction:
        lost = await set_lost(transaction.connection, unseen=unseen)
        await mark_started_again(transaction.connection)
    for pilot in lost:
        log.warning("pilot.lost", pilot=str(pilot.uid), name=pilot.name, host=pilot.host)
