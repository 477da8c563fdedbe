"""Get how long the work of a template waited and ran in a period."""

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.jobs.times import WorkTimes
from wms.db.times.times import TimesPeriod, list_tasks_of_period
from wms.usecases.context import WmsContext
from wms.usecases.times.work_times import add_up_times

#: Most tasks of a period that are summed, newest first.
MAX_TASKS = 20_000


async def get_period_times(
    context: WmsContext, period: TimesPeriod, visibility: Visibility = ALL
) -> WorkTimes:
    """Return the times of the newest ``MAX_TASKS`` tasks that were created in the period.

    Jobs of live and just ended tasks are not counted.
    """
    async with context.database.connection() as connection:
        tasks = await list_tasks_of_period(
            connection, period, limit=MAX_TASKS, visibility=visibility
        )
    return add_up_times(tasks, {})
