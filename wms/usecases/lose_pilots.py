"""Marks pilots that stopped answering."""

from datetime import timedelta

import structlog

from wms.db.pilots import LOSE_PILOTS, MARK_STARTED_AGAIN
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


async def lose_pilots(context: WmsContext) -> None:
    """Precondition: none. Effect: pilots unseen for ``unseen`` seconds are lost (their jobs went
    when the leases ended); one that is heard of again is back. Of lost ones it notes which were
    started again. Messages: none. Errors: none."""
    async with context.database.transaction() as transaction:
        rows = await transaction.connection.fetch(
            LOSE_PILOTS, timedelta(seconds=context.terms.unseen)
        )
        await transaction.connection.execute(MARK_STARTED_AGAIN)
    for row in rows:
        log.warning("pilot.lost", pilot=str(row["uid"]), name=row["name"], host=row["host"])
