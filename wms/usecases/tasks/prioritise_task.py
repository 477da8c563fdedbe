"""Set the rank of a task on request."""

from uuid import UUID

from sluice.contracts.common.problems import Conflict
from sluice.contracts.jobs.tasks import TaskStatus
from wms.db.tasks.ranking import set_rank
from wms.db.tasks.status import get_task_status
from wms.usecases.context import WmsContext


async def prioritise_task(context: WmsContext, uid: UUID, rank: float) -> TaskStatus:
    """Set the rank of a live task at once; it is also the new base of aging and retries.

    Raises:
        NotFound: There is no such task.
        Conflict: The task has ended (field ``state``).
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        changed = await set_rank(connection, uid, rank)
        status = await get_task_status(connection, uid)
    if not changed:
        raise Conflict(
            f"task {uid} has already ended ({status.state}): its rank no longer matters",
            task=uid,
            state=status.state,
        )
    return status
