"""Check whether jobs of a task will ever find a node."""

from uuid import UUID

from sluice.contracts.jobs.tasks import Schedulability
from wms.db.limits.limits import add_limits
from wms.db.tasks.status import get_task_status
from wms.db.tasks.tasks import list_demands
from wms.domain.scheduling.schedulability import explain_unschedulable
from wms.usecases.context import WmsContext
from wms.usecases.tasks.node_supply import get_node_supply


async def check_schedulability(context: WmsContext, uid: UUID) -> Schedulability:
    """Return whether jobs of the task will never find a node, and why.

    Raises:
        NotFound: There is no such task.
    """
    async with context.database.connection() as connection:
        await get_task_status(connection, uid)
        waiting = await add_limits(connection, await list_demands(connection))
        own = next((demand for demand in waiting if demand.uid == uid), None)
        supply = await get_node_supply(context, connection)
    reason = None if own is None else explain_unschedulable(own, supply)
    return Schedulability(never=reason is not None, reason=reason or "")
