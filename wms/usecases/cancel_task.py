"""Cancels a task, by request."""

from uuid import UUID

from sluice.contracts.problems import Conflict, NotFound
from sluice.contracts.states import TaskState
from sluice.contracts.tasks import TaskStatus
from wms.db.reading import task_status
from wms.db.tasks import lock_tasks
from wms.domain.boundary import Ending
from wms.usecases.end_task import end_task
from wms.usecases.workload import Workload


async def cancel_task(workload: Workload, uid: UUID) -> TaskStatus:
    """Precondition: the task exists and has not finished or failed; repeated, it answers with the
    canceled task.

    Effect: the task is canceled with all its open jobs; pilots are told with their next heartbeat.
    Messages: those of ``end_task``. Raises ``NotFound``, ``Conflict`` (field ``state``).
    """
    async with workload.database.transaction() as tx:
        locked = (await lock_tasks(tx.connection, [uid])).get(uid)
        if locked is None:
            raise NotFound(f"no task {uid}", task=uid)
        if locked.state.final and locked.state is not TaskState.CANCELED:
            raise Conflict(
                f"task {uid} has already {locked.state}: it cannot be canceled",
                task=uid,
                state=locked.state,
            )
        known = (await workload.tasks.get(tx.connection, [uid]))[uid]
        canceled = await end_task(tx, known, Ending(TaskState.CANCELED, "canceled by request"))
        status = await task_status(tx.connection, uid)
    if canceled:
        workload.metrics.tasks_ended.labels(TaskState.CANCELED).inc()
    return status
