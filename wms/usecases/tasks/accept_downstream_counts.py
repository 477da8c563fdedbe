"""Accept how many tasks read each input of a task (queue ``wms.downstream-counts``)."""

from sluice.contracts.messaging.messages import DownstreamCounts
from sluice.servicekit.database import Transaction
from wms.db.jobs.downstream_counts import insert_downstream_counts, list_finished_inputs
from wms.db.tasks.tasks import list_stored_tasks, lock_tasks
from wms.usecases.dataflow.send_releases import send_releases

#: Most jobs that finished before the downstream counts were known and whose files are released.
_MAX_BEFORE = 10_000


async def accept_downstream_counts(transaction: Transaction, message: DownstreamCounts) -> None:
    """Store how many tasks read each input of a task, so that finished jobs release their files.

    The task may come later or have begun. Files of jobs that finished before are released now, for
    the first of these jobs; the rest stays until the end of the task. It sends ``dms.releases``.
    """
    connection, uid = transaction.connection, message.task_uid
    locked = await lock_tasks(connection, [uid])
    if not await insert_downstream_counts(connection, message) or uid not in locked:
        return
    before = await list_finished_inputs(connection, uid, limit=_MAX_BEFORE)
    [task] = await list_stored_tasks(connection, [uid])
    downstream_counts = {str(dataset): count for dataset, count in message.counts.items()}
    send_releases(transaction, task, before, downstream_counts=downstream_counts)
