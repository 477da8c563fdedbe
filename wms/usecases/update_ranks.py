"""Lets waiting tasks rise: one step of the rank formula for every live task."""

from datetime import timedelta

from wms.db.ranking import set_ranks, tasks_to_rank
from wms.domain.rank import aging, next_rank, retries
from wms.usecases.context import WmsContext


async def update_ranks(context: WmsContext, *, period: float) -> int:
    """Precondition: none. ``period``: seconds between two steps of one task, however many instances
    do this.

    Effect: rank(i) becomes rank(i+1) by ``wms.domain.rank``. Messages: none. Returns how many tasks
    were looked at.
    """
    async with context.database.transaction() as transaction:
        tasks = await tasks_to_rank(transaction.connection, age=timedelta(seconds=0.9 * period))
        ranks = {
            task.uid: next_rank(
                task.rank,
                task.base_rank,
                aging=aging(task.waited),
                retries=retries(task.failed_attempts, task.total),
            )
            for task in tasks
        }
        await set_ranks(transaction.connection, ranks)
    return len(tasks)
