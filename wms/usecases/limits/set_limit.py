"""Set a limit on a resource that is counted over all nodes."""

import structlog

from sluice.contracts.jobs.limits import SetLimit
from wms.db.limits import limits
from wms.db.ready_channel import notify_ready
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


async def set_limit(context: WmsContext, new: SetLimit) -> None:
    """Set a limit; from the commit on no job is leased that would exceed it.

    Amounts that jobs hold already count. If these exceed the limit, no job is leased until enough
    have ended. A repetition changes nothing.
    """
    async with context.database.transaction() as transaction:
        await limits.set_limit(transaction.connection, new)
        await notify_ready(transaction.connection)
    context.signal.ready()
    log.info("limit.set", name=new.name, amount=new.amount, period=new.period)
