"""End a task: the one place where a task becomes finished, failed or canceled (invariant 5)."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sluice.contracts.data.datasets import NewFile
from sluice.contracts.messaging.messages import DMS_FILES, TASK_ENDED, RegisterFiles, TaskEndedEvent
from sluice.servicekit.database import Transaction
from wms.db.dataflow.dataflow_links import delete_dataflow_links
from wms.db.dataflow.tree_parts import forget_tree
from wms.db.jobs.attempts import cancel_jobs_in_flight, cancel_waiting_jobs
from wms.db.jobs.downstream_counts import forget_downstream_counts
from wms.db.tasks.task_cache import CachedTask
from wms.db.tasks.tasks import set_ended
from wms.domain.task_completion import TaskEnding

Files = Mapping[UUID, Sequence[NewFile]]


async def end_task(
    transaction: Transaction,
    cached_task: CachedTask,
    ending: TaskEnding,
    *,
    files: Files | None = None,
) -> bool:
    """End the task and cancel its open jobs; return False if it was final already.

    The transaction must have locked the task's row, and its counters must be up to date. Attempts
    in flight are closed, so their reports come too late. ``files`` (by data set) are registered as
    well. For each output and log data set it sends ``dms.files`` with ``close_at``, the exact
    number of files. It also sends the event ``wms.task-ended``.
    """
    uid, connection = cached_task.task.uid, transaction.connection
    registered = await set_ended(connection, uid, ending)
    if registered is None:
        return False
    message = f"canceled: its task ended as {ending.state}"
    await cancel_jobs_in_flight(connection, uid, message=message)
    await cancel_waiting_jobs(connection, uid, message=message)
    await delete_dataflow_links(connection, uid)
    await forget_downstream_counts(connection, uid)
    if cached_task.task.parts_uid is not None:
        await forget_tree(connection, uid)
    for dataset in cached_task.datasets:
        count = registered.get(str(dataset), 0)
        send_file_registrations(
            transaction,
            cached_task,
            dataset=dataset,
            files=(files or {}).get(dataset, ()),
            close_at=count,
        )
    transaction.send(
        TASK_ENDED,
        TaskEndedEvent(uid=uid, state=ending.state),
        subject=uid,
        task=uid,
        chain=cached_task.task.chain_uid,
    )
    return True


def send_file_registrations(
    transaction: Transaction,
    cached_task: CachedTask,
    *,
    dataset: UUID,
    files: Sequence[NewFile],
    close_at: int | None = None,
) -> None:
    """Send ``dms.files`` for one data set of the task."""
    # The files were checked when they were reported.
    data = RegisterFiles.model_construct(dataset_uid=dataset, files=list(files), close_at=close_at)
    transaction.send(
        DMS_FILES,
        data,
        subject=dataset,
        task=cached_task.task.uid,
        chain=cached_task.task.chain_uid,
        dataset=dataset,
    )
