"""Retry failed and quarantined jobs on request."""

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.tasks import Job, TaskStatus
from sluice.servicekit.database import Transaction
from wms.db.dataflow.grouping_state import find_downstream, forget_below
from wms.db.jobs.retries import count_reset, get_task_uid, reset_jobs
from wms.db.ready_channel import notify_ready
from wms.db.tasks.status import get_job_with_attempts, get_task_status
from wms.db.tasks.tasks import LockedTask, lock_tasks
from wms.usecases.context import WmsContext


async def retry_task(context: WmsContext, uid: UUID) -> TaskStatus:
    """Make the failed and quarantined jobs of a live task ready, with all their attempts again.

    Jobs of human tasks become items again. A job stays as it is if a later step has formed groups
    without its file, or if people cannot be asked about its file.

    Raises:
        NotFound: There is no such task.
        Conflict: The task has ended, or a downstream task has just appeared.
    """
    async with context.database.transaction() as transaction:
        await _retry(transaction, await _lock(transaction, uid), None)
        status = await get_task_status(transaction.connection, uid)
    context.signal.ready()
    return status


async def retry_job(context: WmsContext, job_id: int) -> Job:
    """Retry one job as ``retry_task`` does.

    Raises:
        NotFound: There is no such job.
        Conflict: The job is neither failed nor quarantined, or its task has ended. Or people cannot
            be asked about its file, or a later step has gone on without it.
    """
    async with context.database.transaction() as transaction:
        uid = await get_task_uid(transaction.connection, job_id)
        locked = await _lock(transaction, uid)
        moved = await _retry(transaction, locked, job_id)
        job = await get_job_with_attempts(transaction.connection, job_id)
        retryable_states = JobState.FAILED, JobState.QUARANTINED
        if (
            not moved
            and job.state in retryable_states
            and any(attempt.by_people for attempt in job.attempts)
        ):
            raise Conflict(
                f"job {job_id} cannot be retried: its file cannot be shown to annotators:"
                f" {job.message}",
                job=job_id,
                state=job.state,
            )
        if not moved and job.state in retryable_states:
            raise Conflict(
                f"job {job_id} cannot be retried: a later step has already grouped the files around"
                " it; rerun the chain instead",
                job=job_id,
                state=job.state,
            )
        if not moved:
            raise Conflict(
                f"job {job_id} is {job.state}: only failed and quarantined jobs can be retried",
                job=job_id,
                state=job.state,
            )
    context.signal.ready()
    return job


@dataclass(frozen=True, slots=True)
class _Locked:
    """A locked task.

    Attributes:
        last_grouped: The highest number in a group of a later step.
    """

    task: LockedTask
    last_grouped: int


async def _lock(transaction: Transaction, uid: UUID) -> _Locked:
    """Lock the task and all tasks downstream, so that none of them forms a group meanwhile.

    Raises:
        NotFound: There is no such task.
        Conflict: The task has ended, or a downstream task has just appeared.
    """
    connection = transaction.connection
    before = await find_downstream(connection, uid)
    task = (await lock_tasks(connection, before.tasks)).get(uid)
    if task is None:
        raise NotFound(f"no task {uid}", task=uid)
    if task.state.final:
        raise Conflict(
            f"task {uid} has ended ({task.state}): its jobs cannot be retried; rerun the chain"
            " instead",
            task=uid,
            state=task.state,
        )
    after = await find_downstream(connection, uid)
    if not set(after.tasks) <= set(before.tasks):
        raise Conflict(
            f"another step has just begun to read the output of task {uid}: try again", task=uid
        )
    await forget_below(connection, after.tasks)
    return _Locked(task, after.last_grouped)


async def _retry(transaction: Transaction, locked_task: _Locked, job_id: int | None) -> int:
    task, uid = locked_task.task, locked_task.task.uid
    jobs = await reset_jobs(transaction.connection, uid, job=job_id, above=locked_task.last_grouped)
    if not jobs:
        return 0
    failed = [job.error_class for job in jobs if job.state is JobState.FAILED]
    errors = Counter(task.errors)
    errors.subtract(error for error in failed if error is not None)
    remaining_errors = {error: number for error, number in errors.items() if number > 0}
    await count_reset(
        transaction.connection,
        uid,
        failed=len(failed),
        quarantined=len(jobs) - len(failed),
        errors=remaining_errors,
    )
    await notify_ready(transaction.connection)
    return len(jobs)
