"""Reset jobs of a locked task, so that they are tried again."""

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import JobState
from sluice.servicekit.database import Transaction
from wms.db.dataflow.grouping_state import find_downstream, forget_below
from wms.db.jobs.retries import count_reset, reset_jobs
from wms.db.ready_channel import notify_ready
from wms.db.tasks.tasks import LockedTask, lock_tasks


@dataclass(frozen=True, slots=True)
class TaskToRetry:
    """A locked task whose jobs are to be retried.

    Attributes:
        last_grouped: The highest number in a group of a later step.
    """

    task: LockedTask
    last_grouped: int


async def lock_task_to_retry(transaction: Transaction, uid: UUID) -> TaskToRetry:
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
    return TaskToRetry(task, after.last_grouped)


async def reset_failed_jobs(
    transaction: Transaction, locked_task: TaskToRetry, job_id: int | None
) -> int:
    """Make the failed and quarantined jobs, or one of them, ready again; return their number."""
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
