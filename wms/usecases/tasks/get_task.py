"""Get the status of a task."""

from uuid import UUID

from sluice.contracts.jobs.tasks import TaskStatus
from wms.db.tasks import status
from wms.usecases.context import WmsContext


async def get_task(context: WmsContext, uid: UUID) -> TaskStatus:
    """Return the status of a task.

    Raises:
        NotFound: There is no such task.
    """
    async with context.database.connection() as connection:
        return await status.get_task_status(connection, uid)
