"""Count how long the jobs of ended tasks waited and ran."""

from wms.db.times.times import count_times, get_chain_begin, keep_times, list_uncounted_tasks
from wms.domain.times import Samples
from wms.usecases.context import WmsContext

#: Tasks per call.
_BATCH = 50


async def count_ended_tasks(context: WmsContext) -> bool:
    """Count and store the times of ended tasks; return whether there may be more.

    Each task is counted separately, so that no transaction is long. Several instances get the same
    result.
    """
    async with context.database.connection() as connection:
        tasks = await list_uncounted_tasks(connection, limit=_BATCH)
        for task, chain, is_timed in tasks:
            times: Samples = {}
            if is_timed:
                begin = await get_chain_begin(connection, chain)
                times = await count_times(connection, task, begin=begin)
            await keep_times(connection, task, times)
    return len(tasks) == _BATCH
