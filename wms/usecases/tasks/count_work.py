"""Count the jobs of all tasks by state."""

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.attention import WorkCounts
from wms.db.tasks.counts import get_work_counts
from wms.usecases.context import WmsContext


async def count_work(
    context: WmsContext, *, troubled: bool = False, visibility: Visibility = ALL
) -> WorkCounts:
    """Return consistent counts of jobs; ``troubled`` includes the number of troubled tasks."""
    async with context.database.connection() as connection:
        return await get_work_counts(connection, troubled=troubled, visibility=visibility)
