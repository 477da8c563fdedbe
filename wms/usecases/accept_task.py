"""Takes a task from queue ``wms.tasks``."""

from sluice.contracts.tasks import Task
from sluice.servicekit.database import Transaction
from wms.db.tasks import insert_task


async def accept_task(transaction: Transaction, task: Task) -> bool:
    """Precondition: none. Effect: the task is stored, waiting; one that is known stays as it is,
    whatever the message says now (False then). Messages: none. Errors: none."""
    return await insert_task(transaction.connection, task)
