"""Tells the DMS which files in between a task is done with, in the transaction that ends the jobs
which read them."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sluice.contracts.messages import DMS_RELEASES, ReleaseFiles
from sluice.contracts.states import JobState, TaskState
from sluice.contracts.tasks import Task
from sluice.servicekit.database import Transaction
from wms.db.attempts import EndedAttempt
from wms.db.task_cache import KnownTask
from wms.db.tasks import LockedTask
from wms.domain.releasing import Inputs, done_with

#: Files that one message names at most.
_MOST = 10_000


def release_files(
    transaction: Transaction,
    ended: Mapping[UUID, Sequence[EndedAttempt]],
    *,
    locked: Mapping[UUID, LockedTask],
    known: Mapping[UUID, KnownTask],
) -> None:
    """Precondition: the rows of the tasks are locked, and the attempts have ended, by task.

    Effect: none here. Inputs of jobs that failed or are held stay, so that they can be tried again;
    so do all while jobs are made of the whole data set, page by page: that one is read from its
    beginning by whoever goes on after a crash. Messages: ``dms.releases``.
    """
    for uid, attempts in ended.items():
        task = locked[uid]
        if task.state is TaskState.SPLITTING and task.reading is None:
            continue
        finished = [
            (attempt.job.seq, attempt.job.inputs)
            for attempt in attempts
            if attempt.verdict.state is JobState.FINISHED
        ]
        send_releases(transaction, known[uid].task, finished, readers=task.input_readers)


def send_releases(
    transaction: Transaction,
    task: Task,
    finished: Sequence[tuple[int, Inputs]],
    *,
    readers: Mapping[str, int],
) -> None:
    """Of jobs that finished: numbers and inputs. Messages: ``dms.releases``."""
    for files in done_with(task, finished, readers=readers):
        for start in range(0, len(files.seqs), _MOST):
            transaction.send(
                DMS_RELEASES,
                ReleaseFiles(
                    dataset_uid=files.dataset,
                    reader=task.uid,
                    readers=files.readers,
                    seqs=files.seqs[start : start + _MOST],
                ),
                subject=files.dataset,
                task=task.uid,
                chain=task.chain_uid,
                dataset=files.dataset,
            )
