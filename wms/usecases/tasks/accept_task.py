"""Accept a task (queue ``wms.tasks``)."""

from sluice.contracts.jobs.tasks import Task
from sluice.servicekit.database import Transaction
from wms.db.tasks.tasks import insert_task


async def accept_task(transaction: Transaction, task: Task) -> None:
    """Store the task as waiting; a known task stays as it is, whatever the message says."""
    await insert_task(transaction.connection, task)
