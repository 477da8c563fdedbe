"""Raise the ranks of waiting tasks: one step of the rank formula for every live task."""

from datetime import timedelta

from wms.db.tasks.ranking import lock_tasks_to_rank, set_ranks
from wms.domain.scheduling.rank import aging, retries
from wms.usecases.context import WmsContext


async def update_ranks(context: WmsContext, *, period: float) -> int:
    """Replace rank(i) of every live task by rank(i+1); see ``wms.domain.scheduling.rank``.

    Args:
        context: The context of the WMS.
        period: Seconds between two steps of a task, however many instances call this function.

    Returns:
        The number of tasks whose rank was computed.
    """
    async with context.database.transaction() as transaction:
        tasks = await lock_tasks_to_rank(
            transaction.connection, age=timedelta(seconds=0.9 * period)
        )
        ranks = {
            task.uid: context.rank_weights.next_rank(
                task.rank,
                task.base_rank,
                aging=aging(task.waited),
                retries=retries(task.failed_attempts, task.total),
            )
            for task in tasks
        }
        await set_ranks(transaction.connection, ranks)
    return len(tasks)
