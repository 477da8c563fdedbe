"""Take the entries of ended upstream jobs, and make jobs of complete groups."""

from collections.abc import Sequence

from sluice.contracts.jobs.tasks import Task
from sluice.servicekit.database import Connection
from wms.db.dataflow.grouping_state import (
    find_complete_below,
    get_grouping_state,
    keep_entries,
    set_due,
)
from wms.db.tasks.tasks import UpstreamRead
from wms.domain.splitting.grouping import JobDraft
from wms.usecases.dataflow.grouped_jobs import NewJobs, make_grouped_jobs

#: Most entries that a report puts into jobs; the splitting does the rest.
_MAX_CONCURRENT = 2000


async def take_entries(
    connection: Connection,
    reading: UpstreamRead,
    task: Task,
    new: Sequence[JobDraft],
    *,
    registered_files: int,
) -> NewJobs:
    """Keep the new entries and make jobs of those that are complete.

    The rows of both tasks must be locked, and the upstream jobs must have ended. ``new`` are their
    entries, ``registered_files`` is the number of all files of the upstream task so far.
    """
    if new:
        await keep_entries(connection, task.uid, new)
    state = await get_grouping_state(connection, task.uid)
    if state is None:
        return NewJobs()
    if state.entries != registered_files:  # some files came before the dataflow began
        await set_due(connection, task.uid)
        return NewJobs()
    below = await find_complete_below(
        connection, reading.upstream, downstream=task.uid, state=state
    )
    new_jobs = await make_grouped_jobs(
        connection, task, below=below, last=False, limit=_MAX_CONCURRENT
    )
    if new_jobs.more:
        await set_due(connection, task.uid)
    return new_jobs
