"""Counts how long the jobs of tasks that have ended waited and ran."""

from wms.db.times import begin_of_chain, count_times, keep_times, uncounted_tasks
from wms.domain.times import Samples
from wms.usecases.context import WmsContext

#: Tasks at a time.
_BATCH = 50


async def count_ended_tasks(context: WmsContext) -> bool:
    """Precondition: none. Effect: tasks that have ended keep how long their jobs waited and ran,
    each counted by itself, so that no transaction is long; by several instances the same. Messages:
    none. Errors: none. True where there may be more."""
    async with context.database.connection() as connection:
        found = await uncounted_tasks(connection, limit=_BATCH)
        for task, chain, is_timed in found:
            times: Samples = {}
            if is_timed:
                begin = await begin_of_chain(connection, chain)
                times = await count_times(connection, task, begin=begin)
            await keep_times(connection, task, times)
    return len(found) == _BATCH
