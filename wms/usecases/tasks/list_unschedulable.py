"""List the tasks whose ready jobs fit no node."""

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.jobs.tasks import UnschedulableList, UnschedulableTask
from wms.db.limits.limits import add_limits
from wms.db.tasks.status import list_task_statuses
from wms.db.tasks.tasks import list_demands
from wms.domain.scheduling.schedulability import explain_unschedulable
from wms.usecases.context import WmsContext
from wms.usecases.tasks.node_supply import get_node_supply


async def list_unschedulable(
    context: WmsContext, *, limit: int, visibility: Visibility = ALL
) -> UnschedulableList:
    """Return tasks with ready jobs that fit no node, at most ``limit``, oldest first."""
    async with context.database.connection() as connection:
        waiting = await add_limits(connection, await list_demands(connection))
        if not waiting:
            return UnschedulableList(tasks=[], number=0)
        supply = await get_node_supply(context, connection)
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
