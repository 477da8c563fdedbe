"""Mark pilots that do not answer as lost."""

from datetime import timedelta

import structlog

from wms.db.pilots.pilots import mark_started_again, set_lost
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


async def lose_pilots(context: WmsContext) -> None:
    """Mark silent pilots as lost, and lost pilots that have started again.

    The leases of their jobs have expired before.
    """
    silence = timedelta(seconds=context.rules.pilot_timeout)
    async with context.database.transaction() as transaction:
        lost = await set_lost(transaction.connection, silence=silence)
        await mark_started_again(transaction.connection)
    for pilot in lost:
        log.warning("pilot.lost", pilot=str(pilot.uid), name=pilot.name, host=pilot.host)
