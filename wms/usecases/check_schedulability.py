"""Says whether a task's jobs will ever find a node."""

from uuid import UUID

from sluice.contracts.tasks import Outlook
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
        present = await present_nodes(connection)
    supply = NodeSupply(present.nodes, present.newest, context.launchable, context.terms.fit_grace)
    reason = None if own is None else why_never(own, supply)
    return Outlook(never=reason is not None, reason=reason or "")
