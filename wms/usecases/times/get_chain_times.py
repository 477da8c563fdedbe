"""Get how long the work of chains waited and ran."""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.jobs.times import WorkTimes
from sluice.servicekit.database import Connection
from wms.db.times.times import TimedTask, count_times, get_chain_begin, list_tasks_of_chains
from wms.domain.times import Samples
from wms.usecases.context import WmsContext
from wms.usecases.times.work_times import add_up_times


async def get_chain_times(
    context: WmsContext, chains: Sequence[UUID], visibility: Visibility = ALL
) -> WorkTimes:
    """Return the times of chains; those of live tasks are counted now or a moment ago.

    Chains without tasks add nothing.
    """
    async with context.database.connection() as connection:
        tasks = await list_tasks_of_chains(connection, chains, visibility)
        live = {task.uid: await _count_live_times(context, connection, task) for task in tasks
                if task.times is None and task.timed}  # fmt: skip
    return add_up_times(tasks, live)


async def _count_live_times(
    context: WmsContext, connection: Connection, task: TimedTask
) -> Samples:
    async def count() -> Samples:
        begin = await get_chain_begin(connection, task.chain_uid)
        return await count_times(connection, task.uid, begin=begin)

    return await context.live_times.get(task.uid, count)
