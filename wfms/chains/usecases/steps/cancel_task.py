"""Cancel a task in the WMS, which owns it."""

from uuid import UUID

from sluice.contracts.jobs.tasks import Cancel, TaskStatus
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.steps.known_tasks import require_task


async def cancel_task(context: ChainsContext, uid: UUID, request: Cancel) -> TaskStatus:
    """Cancel a task; its chain ends when the watcher reports the task's end.

    Raises:
        NoSuchTask: No chain has the task.
        ServiceError: The WMS refuses the request or does not answer.
    """
    await require_task(context.database, uid)
    return await context.wms.cancel_task(uid, request)
