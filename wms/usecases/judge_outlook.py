"""Says whether a task's jobs will ever find a node."""

from uuid import UUID

from sluice.contracts.tasks import Outlook
from wms.db.reading import task_status
from wms.db.surroundings import nodes_there
from wms.db.tasks import demands
from wms.domain.outlook import Horizon, why_never
from wms.usecases.workload import Workload


async def judge_outlook(workload: Workload, uid: UUID) -> Outlook:
    """Precondition: the task exists. Effect: none. Messages: none. Raises ``NotFound``."""
    async with workload.database.connection() as connection:
        await task_status(connection, uid)
        own = next((demand for demand in await demands(connection) if demand.uid == uid), None)
        there, newest = await nodes_there(connection)
    horizon = Horizon(there, newest, workload.launchable, workload.terms.fit_grace)
    reason = None if own is None else why_never(own, horizon)
    return Outlook(never=reason is not None, reason=reason or "")
