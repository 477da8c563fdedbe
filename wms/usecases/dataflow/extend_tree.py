"""Merges in levels: make a job of the next level when the files that it reads exist.

Code that ends jobs, or has made all jobs of the first level, calls it in the same transaction. A
group becomes a job only when a file after it, or the end of the level before, is known. So a job
that is alone in its level is known to be the last of all.
"""

from collections.abc import Iterable
from dataclasses import replace

from sluice.contracts.common.states import TaskState
from sluice.contracts.jobs.tasks import Task
from sluice.servicekit.database import Connection
from wms.db.dataflow.tree_parts import (
    TreeLevel,
    find_first_open_job,
    list_levels,
    list_parts,
    set_level,
    set_root,
)
from wms.db.tasks.tasks import LockedTask
from wms.domain.splitting.dataflow_rules import group_entries
from wms.domain.splitting.tree_merge import SPAN


async def extend_tree(
    connection: Connection, task: Task, locked_task: LockedTask, *, levels: Iterable[int]
) -> int:
    """Make the jobs of these ``levels`` and those above; return how many.

    The task's row must be locked, and the files of the level before must be stored.
    """
    levels_by_number = await list_levels(connection, task.uid)
    has_all_jobs = locked_task.state is TaskState.ACTIVE
    levels_by_number[0] = TreeLevel(
        0, 0 if locked_task.only_seq is None else 1, -1, closed=has_all_jobs
    )
    levels_to_extend, jobs = set(levels), 0
    while levels_to_extend:
        level = min(levels_to_extend)
        levels_to_extend.discard(level)
        below = levels_by_number.get(level - 1)
        if below is None or (below.closed and below.made == 1):
            continue
        own = levels_by_number.get(level) or TreeLevel(
            level, 0, (level - 1) * SPAN - 1, closed=False
        )
        extended = await _extend_level(connection, task, own, below)
        if extended != own:
            levels_by_number[level] = extended
            levels_to_extend.add(level + 1)
        jobs += extended.made - own.made
    return jobs


async def _extend_level(
    connection: Connection, task: Task, own_level: TreeLevel, below: TreeLevel
) -> TreeLevel:
    if own_level.closed:
        return own_level
    end = own_level.level * SPAN
    unfinished = await find_first_open_job(
        connection, task.uid, after=own_level.taken_seq, before=end
    )
    last = below.closed and unfinished is None
    parts = await list_parts(
        connection,
        task.uid,
        after=own_level.taken_seq,
        before=end if unfinished is None else unfinished,
    )
    if not parts:
        return own_level
    jobs = group_entries(task, parts, number=own_level.made, last=last)
    drafts = [replace(draft, seq=end + draft.seq) for draft in jobs.drafts]
    if not drafts:
        return own_level
    last_entry = own_level.taken_seq if jobs.last_entry is None else jobs.last_entry
    extended = TreeLevel(own_level.level, own_level.made + len(drafts), last_entry, closed=last)
    await set_level(connection, task.uid, extended, new=drafts)
    if last and extended.made == 1:
        await set_root(connection, task.uid, drafts[0].seq)
    return extended
