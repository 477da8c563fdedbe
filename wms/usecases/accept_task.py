"""Takes a task from queue ``wms.tasks``, and from queue ``wms.readers`` how many tasks read what it
reads."""

from sluice.contracts.messages import InputReaders
from sluice.contracts.tasks import Task
from sluice.servicekit.database import Transaction
from wms.db.input_readers import insert_readers
from wms.db.tasks import insert_task


async def accept_task(transaction: Transaction, task: Task) -> bool:
    """Precondition: none. Effect: the task is stored, waiting; one that is known stays as it is,
    whatever the message says now (False then). Messages: none. Errors: none."""
    return await insert_task(transaction.connection, task)


async def accept_readers(transaction: Transaction, told: InputReaders) -> None:
    """Precondition: none; the task may come later. Effect: from now on the task's finished jobs
    release their files of these data sets. Messages: none. Errors: none."""
    await insert_readers(transaction.connection, told)
