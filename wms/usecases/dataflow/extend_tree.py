"""Merges in levels: make a job of the next level when the files that it reads exist.

Whoever ends jobs, or has made all jobs of the first level, calls it in the same transaction. A
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
    first_open,
    levels_of,
    read_parts,
    set_level,
    set_root,
)
from wms.db.tasks.tasks import LockedTask
from wms.domain.splitting.flow import group_entries
from wms.domain.splitting.tree_merge import SPAN


async def extend_tree(
    connection: Connection, task: Task, locked: LockedTask, *, levels: Iterable[int]
) -> int:
    """Make the jobs of these ``levels`` and those above; return how many.

    The task's row must be locked, and the files of the level before must be stored.
    """
    known = await levels_of(connection, task.uid)
    is_made = locked.state is TaskState.ACTIVE
    known[0] = TreeLevel(0, 0 if locked.only_seq is None else 1, -1, closed=is_made)
    due, jobs = set(levels), 0
    while due:
        level = min(due)
        due.discard(level)
        below = known.get(level - 1)
        if below is None or (below.closed and below.made == 1):
            continue
        own = known.get(level) or TreeLevel(level, 0, (level - 1) * SPAN - 1, closed=False)
        grown = await _grow(connection, task, own, below)
        if grown != own:
            known[level] = grown
            due.add(level + 1)
        jobs += grown.made - own.made
    return jobs


async def _grow(connection: Connection, task: Task, own: TreeLevel, below: TreeLevel) -> TreeLevel:
    if own.closed:
        return own
    end = own.level * SPAN
    unfinished = await first_open(connection, task.uid, after=own.taken_seq, before=end)
    last = below.closed and unfinished is None
    parts = await read_parts(
        connection,
        task.uid,
        after=own.taken_seq,
        before=end if unfinished is None else unfinished,
    )
    if not parts:
        return own
    jobs = group_entries(task, parts, number=own.made, last=last)
    drafts = [replace(draft, seq=end + draft.seq) for draft in jobs.drafts]
    if not drafts:
        return own
    taken = own.taken_seq if jobs.taken is None else jobs.taken
    grown = TreeLevel(own.level, own.made + len(drafts), taken, closed=last)
    await set_level(connection, task.uid, grown, new=drafts)
    if last and grown.made == 1:
        await set_root(connection, task.uid, drafts[0].seq)
    return grown
