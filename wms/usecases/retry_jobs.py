"""Gives failed and held jobs another round, by request."""

from collections import Counter
from uuid import UUID

from sluice.contracts.problems import Conflict, NotFound
from sluice.contracts.states import JobState
from sluice.contracts.tasks import Job, TaskStatus
from sluice.servicekit.database import Transaction
from wms.db.ready_channel import notify_ready
from wms.db.retries import count_reset, reset_jobs, task_of_job
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
        uid = await task_of_job(transaction.connection, job_id)
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
    jobs = await reset_jobs(transaction.connection, uid, job=job_id)
    if not jobs:
        return 0
    failed = [job.error_class for job in jobs if job.state is JobState.FAILED]
    errors = Counter(task.errors)
    errors.subtract(error for error in failed if error is not None)
    left = {error: number for error, number in errors.items() if number > 0}
    await count_reset(
        transaction.connection,
        uid,
        failed=len(failed),
        held=len(jobs) - len(failed),
        errors=left,
    )
    await notify_ready(transaction.connection)
    return len(jobs)
