"""Tell whether jobs of tasks will ever find a node."""

from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.jobs.tasks import Schedulability, UnschedulableList, UnschedulableTask
from sluice.servicekit.database import Connection
from wms.db.limits.limits import add_limits
from wms.db.tasks.explanations import list_present_nodes
from wms.db.tasks.status import get_task_status, list_task_statuses
from wms.db.tasks.tasks import list_demands
from wms.domain.scheduling.schedulability import NodeSupply, explain_unschedulable
from wms.usecases.context import WmsContext


async def check_schedulability(context: WmsContext, uid: UUID) -> Schedulability:
    """Return whether jobs of the task will never find a node, and why.

    Raises:
        NotFound: There is no such task.
    """
    async with context.database.connection() as connection:
        await get_task_status(connection, uid)
        waiting = await add_limits(connection, await list_demands(connection))
        own = next((demand for demand in waiting if demand.uid == uid), None)
        supply = await _read_supply(context, connection)
    reason = None if own is None else explain_unschedulable(own, supply)
    return Schedulability(never=reason is not None, reason=reason or "")


async def list_unschedulable(
    context: WmsContext, *, limit: int, visibility: Visibility = ALL
) -> UnschedulableList:
    """Return tasks with ready jobs that fit no node, at most ``limit``, oldest first."""
    async with context.database.connection() as connection:
        waiting = await add_limits(connection, await list_demands(connection))
        if not waiting:
            return UnschedulableList(tasks=[], number=0)
        supply = await _read_supply(context, connection)
        reasons = {demand.uid: explain_unschedulable(demand, supply) for demand in waiting}
        never = [uid for uid, reason in reasons.items() if reason is not None]
        statuses = await list_task_statuses(connection, never, visibility=visibility)
    statuses.sort(key=lambda task: (task.created_at, task.uid))
    tasks = [
        UnschedulableTask(
            uid=task.uid,
            chain_uid=task.chain_uid,
            step=task.step,
            template=task.template,
            ready=task.ready,
            reason=reasons[task.uid] or "",
        )
        for task in statuses[:limit]
    ]
    return UnschedulableList(tasks=tasks, number=len(statuses))


async def _read_supply(context: WmsContext, connection: Connection) -> NodeSupply:
    present = await list_present_nodes(connection)
    return NodeSupply(
        present.nodes, present.newest_age, context.launchable, context.rules.fit_grace
    )
