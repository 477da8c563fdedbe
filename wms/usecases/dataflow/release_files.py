"""Release the files that ended jobs have read, in the transaction that ends these jobs."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sluice.contracts.common.states import JobState, TaskState
from sluice.servicekit.database import Transaction
from wms.db.jobs.attempts import EndedAttempt
from wms.db.tasks.task_cache import CachedTask
from wms.db.tasks.tasks import LockedTask
from wms.usecases.dataflow.send_releases import send_releases


def release_files(
    transaction: Transaction,
    ended_attempts: Mapping[UUID, Sequence[EndedAttempt]],
    *,
    locked_tasks: Mapping[UUID, LockedTask],
    cached_tasks: Mapping[UUID, CachedTask],
) -> None:
    """Send ``dms.releases`` for the inputs of finished jobs; the tasks must be locked.

    Inputs of failed and quarantined jobs stay, so that these can be retried. All inputs stay while
    jobs are made of a whole data set page by page: after a crash it is read from its beginning
    again.
    """
    for uid, attempts in ended_attempts.items():
        task = locked_tasks[uid]
        if task.state is TaskState.SPLITTING and task.reading is None:
            continue
        finished = [
            (attempt.job.seq, attempt.job.inputs)
            for attempt in attempts
            if attempt.verdict.state is JobState.FINISHED
        ]
        send_releases(
            transaction, cached_tasks[uid].task, finished, downstream_counts=task.downstream_counts
        )
