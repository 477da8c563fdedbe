"""Takes a task from queue ``wms.tasks``, and from queue ``wms.readers`` how many tasks read what it
reads."""

from sluice.contracts.messages import InputReaders
from sluice.contracts.tasks import Task
from sluice.servicekit.database import Transaction
from wms.db.input_readers import insert_readers, jobs_finished_before
from wms.db.tasks import insert_task, lock_tasks, stored_tasks
from wms.usecases.release_files import send_releases

#: Jobs looked through that finished before it was told how many read what they read.
_MOST_BEFORE = 10_000


async def accept_task(transaction: Transaction, task: Task) -> None:
    """Precondition: none. Effect: the task is stored, waiting; one that is known stays as it is,
    whatever the message says now. Messages: none. Errors: none."""
    await insert_task(transaction.connection, task)


async def accept_readers(transaction: Transaction, told: InputReaders) -> None:
    """Precondition: none; the task may come later, or have begun. Effect: the task's finished jobs
    release their files of these data sets, from now on; so do those that finished before (the first
    ones: what there is more stays until the end). Messages: ``dms.releases``. Errors: none."""
    connection, uid = transaction.connection, told.task_uid
    locked = await lock_tasks(connection, [uid])
    if not await insert_readers(connection, told) or uid not in locked:
        return
    before = await jobs_finished_before(connection, uid, limit=_MOST_BEFORE)
    [task] = await stored_tasks(connection, [uid])
    readers = {str(dataset): count for dataset, count in told.readers.items()}
    send_releases(transaction, task, before, readers=readers)
