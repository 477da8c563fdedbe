"""Jobs of entries that a task streams and puts into groups or batches.

An entry is kept until no further entry can come before it. Then it goes into the job that would
contain it if the task had waited for all files.
"""

from dataclasses import dataclass

from sluice.contracts.common.states import TaskMode
from sluice.contracts.jobs.tasks import Task
from sluice.servicekit.database import Connection
from wms.db.dataflow.grouping_state import (
    add_grouped_jobs,
    get_grouping_state,
    list_entries,
    measure_entries,
)
from wms.domain.splitting.dataflow_rules import group_entries


@dataclass(frozen=True, slots=True)
class NewJobs:
    """The result of creating jobs.

    Attributes:
        jobs: The number of jobs that were created.
        more: Whether more jobs can be created of existing entries.
    """

    jobs: int = 0
    more: bool = False


async def make_grouped_jobs(
    connection: Connection, task: Task, *, below: int, last: bool, limit: int
) -> NewJobs:
    """Make jobs of entries with numbers below ``below``, of ``limit`` entries if that makes any.

    ``last``: no other entries will come.
    """
    files, size = await measure_entries(connection, task.uid, below=below)
    state = await get_grouping_state(connection, task.uid)
    if state is None or not (last or _fills_job(task, files, size)):
        return NewJobs()
    while True:
        page = await list_entries(connection, task.uid, below=below, limit=limit)
        more = len(page) == limit
        jobs = group_entries(task, page, number=state.made, last=last and not more)
        if jobs.drafts or not more:
            break
        limit *= 2
    if jobs.drafts:
        await add_grouped_jobs(connection, task.uid, jobs, taken_seq=state.taken_seq)
    return NewJobs(len(jobs.drafts), more)


def _fills_job(task: Task, files: int, size: int) -> bool:
    """Return whether entries of this number and size make a job even if more may come."""
    if task.mode is TaskMode.MAP:
        return files >= task.batch
    if task.groups.bytes is not None:
        return size > task.groups.bytes
    return files >= (task.groups.files or 1) + task.groups.tree
