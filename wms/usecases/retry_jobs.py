"""Gives failed and held jobs another round, by request."""

from collections import Counter
from uuid import UUID

from sluice.contracts.problems import Conflict, NotFound
from sluice.contracts.states import JobState
from sluice.contracts.tasks import Job, TaskStatus
from sluice.servicekit.database import Transaction
from wms.db.jobs import NOTIFY_READY
from wms.db.retries import COUNT_RETRIED, RETRY_JOBS, SELECT_TASK_OF_JOB
from wms.db.status import job_with_attempts, task_status
from wms.db.tasks import lock_tasks
from wms.usecases.context import WmsContext


async def retry_task(context: WmsContext, uid: UUID) -> TaskStatus:
    """Precondition: the task exists and has not ended. Effect: its failed and held jobs are ready
    at once, with their ``retry`` attempts before them again; without such jobs nothing changes.
    Messages: none. Raises ``NotFound``, ``Conflict``."""
    async with context.database.transaction() as transaction:
        await _retry(transaction, uid, None)
        status = await task_status(transaction.connection, uid)
    context.signal.ready()
    return status


async def retry_job(context: WmsContext, job_id: int) -> Job:
    """The same for one job. Raises ``NotFound``; ``Conflict`` where it is neither failed nor held,
    or its task has ended."""
    async with context.database.transaction() as transaction:
        uid = await transaction.connection.fetchval(SELECT_TASK_OF_JOB, job_id)
        if uid is None:
            raise NotFound(f"no job {job_id}", job=job_id)
        moved = await _retry(transaction, uid, job_id)
        job = await job_with_attempts(transaction.connection, job_id)
        if not moved:
            raise Conflict(
                f"job {job_id} is {job.state}: only failed and held jobs are tried again",
                job=job_id,
                state=job.state,
            )
    context.signal.ready()
    return job


async def _retry(transaction: Transaction, uid: UUID, job_id: int | None) -> int:
    task = (await lock_tasks(transaction.connection, [uid])).get(uid)
    if task is None:
        raise NotFound(f"no task {uid}", task=uid)
    if task.state.final:
        raise Conflict(
            f"task {uid} has ended ({task.state}): its jobs cannot be tried again",
            task=uid,
            state=task.state,
        )
    rows = await transaction.connection.fetch(RETRY_JOBS, uid, job_id)
    if not rows:
        return 0
    failed = [row["error_class"] for row in rows if row["state"] == JobState.FAILED]
    errors = Counter(task.errors)
    errors.subtract(failed)
    left = {error: number for error, number in errors.items() if number > 0}
    await transaction.connection.execute(
        COUNT_RETRIED, uid, len(failed), len(rows) - len(failed), left
    )
    await transaction.connection.execute(NOTIFY_READY)
    return len(rows)
