"""Sets a limit on a resource that is counted over all nodes, or takes it away."""

import structlog

from sluice.contracts.limits import SetLimit
from sluice.contracts.problems import NotFound
from sluice.visible_text import quoted
from wms.db import limits
from wms.db.ready_channel import notify_ready
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


async def set_limit(context: WmsContext, new: SetLimit) -> None:
    """Precondition: none; jobs that need the resource may come later, or hold some already, which
    count. Effect: from the commit on no job is given away that would make it more, whichever
    instance is asked; where more is held, none is until enough has ended. Repeating it is fine.
    Messages: none. Errors: none.
    """
    async with context.database.transaction() as transaction:
        await limits.set_limit(transaction.connection, new)
        await notify_ready(transaction.connection)
    context.signal.ready()
    log.info("limit.set", name=new.name, amount=new.amount, period=new.period)


async def remove_limit(context: WmsContext, name: str) -> None:
    """Effect: the resource is one of those that nodes offer, or nobody does. Messages: none. Raises
    ``NotFound``.
    """
    async with context.database.transaction() as transaction:
        if not await limits.remove_limit(transaction.connection, name):
            raise NotFound(f"there is no limit on {quoted(name)}", name=name)
        await notify_ready(transaction.connection)
    context.signal.ready()
    log.info("limit.removed", name=name)
