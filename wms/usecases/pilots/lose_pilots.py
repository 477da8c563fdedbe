"""Mark pilots that do not answer as lost."""

from datetime import timedelta

import structlog

from wms.db.pilots.pilots import mark_started_again, set_lost
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


async def lose_pilots(context: WmsContext) -> None:
    """Mark pilots unseen for ``unseen`` seconds as lost, and lost pilots that have started again.

    The leases of their jobs have expired before.
    """
    unseen = timedelta(seconds=context.rules.unseen)
    async with context.database.transaction() as transaction:
        lost = await set_lost(transaction.connection, unseen=unseen)
        await mark_started_again(transaction.connection)
    for pilot in lost:
        log.warning("pilot.lost", pilot=str(pilot.uid), name=pilot.name, host=pilot.host)
