"""Count how long the jobs of ended tasks waited and ran."""

from wms.db.times.times import begin_of_chain, count_times, keep_times, uncounted_tasks
from wms.domain.times import Samples
from wms.usecases.context import WmsContext

#: Tasks per call.
_BATCH = 50


async def count_ended_tasks(context: WmsContext) -> bool:
    """Count and store the times of ended tasks; return whether there may be more.

    Each task is counted by itself, so that no transaction is long. Several instances get the same
    result.
    """
    async with context.database.connection() as connection:
        found = await uncounted_tasks(connection, limit=_BATCH)
        for task, chain, is_timed in found:
            times: Samples = {}
            if is_timed:
                begin = await begin_of_chain(connection, chain)
                times = await count_times(connection, task, begin=begin)
            await keep_times(connection, task, times)
    return len(found) == _BATCH
