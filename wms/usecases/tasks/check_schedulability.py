"""Tell whether jobs of tasks will ever find a node."""

from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.jobs.tasks import Schedulability, UnschedulableList, UnschedulableTask
from sluice.servicekit.database import Connection
from wms.db.limits.limits import with_limits
from wms.db.tasks.explanations import present_nodes
from wms.db.tasks.status import task_status, task_statuses
from wms.db.tasks.tasks import demands
from wms.domain.scheduling.schedulability import NodeSupply, why_never
from wms.usecases.context import WmsContext


async def check_schedulability(context: WmsContext, uid: UUID) -> Schedulability:
    """Return whether jobs of the task will never find a node, and why.

    Raises:
        NotFound: There is no such task.
    """
    async with context.database.connection() as connection:
        await task_status(connection, uid)
        waiting = await with_limits(connection, await demands(connection))
        own = next((demand for demand in waiting if demand.uid == uid), None)
        supply = await _supply(context, connection)
    reason = None if own is None else why_never(own, supply)
    return Schedulability(never=reason is not None, reason=reason or "")


async def list_unschedulable(
    context: WmsContext, *, limit: int, visibility: Visibility = ALL
) -> UnschedulableList:
    """Return tasks with ready jobs that fit no node, at most ``limit``, oldest first."""
    async with context.database.connection() as connection:
        waiting = await with_limits(connection, await demands(connection))
        if not waiting:
            return UnschedulableList(tasks=[], number=0)
        supply = await _supply(context, connection)
        reasons = {one.uid: why_never(one, supply) for one in waiting}
        never = [uid for uid, reason in reasons.items() if reason is not None]
        found = await task_statuses(connection, never, visibility=visibility)
    found.sort(key=lambda task: (task.created_at, task.uid))
    tasks = [
        UnschedulableTask(
            uid=task.uid,
            chain_uid=task.chain_uid,
            step=task.step,
            template=task.template,
            ready=task.ready,
            reason=reasons[task.uid] or "",
        )
        for task in found[:limit]
    ]
    return UnschedulableList(tasks=tasks, number=len(found))


async def _supply(context: WmsContext, connection: Connection) -> NodeSupply:
    present = await present_nodes(connection)
    return NodeSupply(present.nodes, present.newest, context.launchable, context.terms.fit_grace)
