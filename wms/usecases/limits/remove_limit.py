"""Remove a limit on a resource that is counted over all nodes."""

import structlog

from sluice.contracts.common.problems import NotFound
from sluice.text.visible_text import quoted
from wms.db.limits import limits
from wms.db.ready_channel import notify_ready
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


async def remove_limit(context: WmsContext, name: str) -> None:
    """Remove a limit; from then on only nodes that offer the resource have it.

    Raises:
        NotFound: There is no limit on this resource.
    """
    async with context.database.transaction() as transaction:
        if not await limits.remove_limit(transaction.connection, name):
            raise NotFound(f"there is no limit on {quoted(name)}", name=name)
        await notify_ready(transaction.connection)
    context.signal.ready()
    log.info("limit.removed", name=name)
