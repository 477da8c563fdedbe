"""Says whether tasks' jobs will ever find a node."""

from uuid import UUID

from sluice.contracts.tasks import Outlook
from sluice.servicekit.database import Connection
from wms.db.explanations import present_nodes
from wms.db.limits import with_limits
from wms.db.status import task_status
from wms.db.tasks import demands
from wms.domain.schedulability import NodeSupply, why_never
from wms.usecases.context import WmsContext


async def check_schedulability(context: WmsContext, uid: UUID) -> Outlook:
    """Precondition: the task exists. Effect: none. Messages: none. Raises ``NotFound``."""
    async with context.database.connection() as connection:
        await task_status(connection, uid)
        waiting = await with_limits(connection, await demands(connection))
        own = next((demand for demand in waiting if demand.uid == uid), None)
        supply = await _supply(context, connection)
    reason = None if own is None else why_never(own, supply)
    return Outlook(never=reason is not None, reason=reason or "")


async def count_unschedulable(context: WmsContext) -> int:
    """Tasks with ready jobs that no node fits. Precondition, effect, messages, errors: none."""
    async with context.database.connection() as connection:
        waiting = await with_limits(connection, await demands(connection))
        supply = await _supply(context, connection) if waiting else None
    return 0 if supply is None else sum(why_never(one, supply) is not None for one in waiting)


async def _supply(context: WmsContext, connection: Connection) -> NodeSupply:
    present = await present_nodes(connection)
    return NodeSupply(present.nodes, present.newest, context.launchable, context.terms.fit_grace)
