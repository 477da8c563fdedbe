"""Cancel a task on request."""

from uuid import UUID

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import TaskState
from sluice.contracts.jobs.tasks import BY_REQUEST, Cancel, TaskStatus
from wms.db.tasks.status import get_task_status
from wms.db.tasks.tasks import lock_tasks
from wms.domain.task_completion import TaskEnding
from wms.usecases.context import WmsContext
from wms.usecases.tasks.end_task import end_task


async def cancel_task(context: WmsContext, uid: UUID, request: Cancel = BY_REQUEST) -> TaskStatus:
    """Cancel a task with all its open jobs.

    Pilots learn of it with their next heartbeat. It sends the messages of ``end_task``. A
    repetition returns the canceled task.

    Raises:
        NotFound: There is no such task.
        Conflict: The task has finished or failed (field ``state``).
    """
    async with context.database.transaction() as transaction:
        locked = (await lock_tasks(transaction.connection, [uid])).get(uid)
        if locked is None:
            raise NotFound(f"no task {uid}", task=uid)
        if locked.state.final and locked.state is not TaskState.CANCELED:
            raise Conflict(
                f"task {uid} has already {locked.state}: it cannot be canceled",
                task=uid,
                state=locked.state,
            )
        cached_task = (await context.tasks.get(transaction.connection, [uid]))[uid]
        canceled = await end_task(
            transaction, cached_task, TaskEnding(TaskState.CANCELED, request.reason)
        )
        status = await get_task_status(transaction.connection, uid)
    if canceled:
        context.metrics.tasks_ended.labels(TaskState.CANCELED).inc()
    return status
