"""Set the fair share of a group."""

import structlog

from sluice.contracts.access.groups import SetShare
from wms.db.ready_channel import notify_ready
from wms.db.tasks.shares import set_share
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


async def set_group_share(context: WmsContext, group: str, new: SetShare) -> None:
    """Set the weight of a group; it counts for each job leased after the commit.

    A repetition changes nothing.
    """
    async with context.database.transaction() as transaction:
        await set_share(transaction.connection, group, new.weight)
        await notify_ready(transaction.connection)
    context.signal.ready()
    log.info("share.set", group=group, weight=new.weight)
