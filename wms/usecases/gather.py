"""Tasks that gather what the task before gives into jobs of several entries, in order: groups of a
merge, batches of a map. An entry is kept until nothing can come before it any more; then it goes
into the job that it would have been in, had the task waited for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sluice.clients.dms import DmsClient
from sluice.contracts.states import DatasetState, TaskMode, TaskState
from sluice.contracts.tasks import Task
from sluice.servicekit.database import Connection
from wms.db.flows import park_task, set_caught_up
from wms.db.gathering import (
    add_gathered,
    complete_below,
    gathering_of,
    hold_gathering,
    keep_entries,
    measure_entries,
    read_entries,
    set_due,
)
from wms.db.ready_channel import notify_ready
from wms.db.splitting import SplitClaim, lock_claimed
from wms.db.task_cache import KnownTask
from wms.db.tasks import LockedTask, Reading, lock_tasks
from wms.domain.flow import gathered, inputs_that_come
from wms.domain.grouping import JobDraft
from wms.usecases.claimed_task import HOLD, SplitClaimLost, announce, decide, park
from wms.usecases.context import WmsContext
from wms.usecases.read_files import NotSplittable
from wms.usecases.read_inputs import entries

#: Above all numbers.
_ALL = 2**63 - 1
#: Entries that a report puts into jobs at most: what more there is, those who make jobs do.
_MOST_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class Made:
    """``jobs``: how many; ``more``: there may be more to make of entries that are there."""

    jobs: int = 0
    more: bool = False


async def take_entries(
    connection: Connection, reading: Reading, task: Task, new: Sequence[JobDraft], *, given: int
) -> Made:
    """Precondition: the rows of the task and of the one it reads from are locked, and jobs of the
    latter have ended; ``new`` is what they gave, ``given`` how many files it has given in all.

    Effect: what can be said to be whole becomes jobs, the rest is kept. Messages: none.
    """
    if new:
        await keep_entries(connection, task.uid, new)
    state = await gathering_of(connection, task.uid)
    if state is None:
        return Made()
    if state.entries != given:  # some were given before it came
        await set_due(connection, task.uid)
        return Made()
    below = await complete_below(connection, reading.writer, reader=task.uid, known=state)
    made = await _make_jobs(connection, task, below=below, last=False, limit=_MOST_AT_ONCE)
    if made.more:
        await set_due(connection, task.uid)
    return made


async def _make_jobs(
    connection: Connection, task: Task, *, below: int, last: bool, limit: int
) -> Made:
    """Of entries with numbers below, ``limit`` of them if that makes any; ``last``: no other ones
    will come."""
    files, size = await measure_entries(connection, task.uid, below=below)
    state = await gathering_of(connection, task.uid)
    if state is None or not (last or _fills_one(task, files, size)):
        return Made()
    while True:
        found = await read_entries(connection, task.uid, below=below, limit=limit)
        more = len(found) == limit
        jobs = gathered(task, found, number=state.made, last=last and not more)
        if jobs.drafts or not more:
            break
        limit *= 2
    if jobs.drafts:
        await add_gathered(connection, task.uid, jobs, taken_seq=state.taken_seq)
    return Made(len(jobs.drafts), more)


def _fills_one(task: Task, files: int, size: int) -> bool:
    """Could so many entries of so many bytes make a job, though more may come?"""
    if task.mode is TaskMode.MAP:
        return files >= task.batch
    if task.groups.bytes is not None:
        return size > task.groups.bytes
    return files >= (task.groups.files or 1) + task.groups.tree


async def carry_on_gathering(
    context: WmsContext, dms: DmsClient, claim: SplitClaim, *, known: KnownTask, page: int
) -> None:
    """Precondition: a task is claimed that gathers what it takes as it comes.

    Effect: entries that it lacks are found in the catalogue; those that are whole are in jobs; with
    the task before finished, all are. Messages: those of ``end_task`` where that decides the task.
    Raises ``SplitClaimLost``, ``NotSplittable``, ``NotAvailable``.
    """
    writer = await _advance(context, claim, known, page=page, closed=False)
    if writer is None:
        return
    if writer.state in {TaskState.FAILED, TaskState.CANCELED}:
        await park(context, claim, f"the step before it {writer.state}")
        return
    uids = [given.dat_in_uid for given in inputs_that_come(known.task)]
    datasets = {uid: await dms.dataset(uid) for uid in uids}
    closed = writer.state is TaskState.FINISHED and all(
        dataset.state is not DatasetState.OPEN for dataset in datasets.values()
    )
    found: list[JobDraft] = []
    async for entry in entries(dms, known.task, datasets, page=page):
        if len(found) >= page:
            await _keep(context, claim, found)
            found = []
        found.append(entry)
    await _keep(context, claim, found)
    if await _advance(context, claim, known, page=page, closed=closed) is not None:
        await park(context, claim, "")


async def _advance(
    context: WmsContext, claim: SplitClaim, known: KnownTask, *, page: int, closed: bool
) -> LockedTask | None:
    """The task before, where it has failed or entries are missing that it gave; None: nothing is
    to be done for now, or any more. ``closed``: all that it gave was read. Raises
    ``SplitClaimLost``, ``NotSplittable``."""
    reading = claim.reading
    assert reading is not None  # noqa: S101 - precondition
    more = True
    while more:
        ended = None
        async with context.database.transaction() as transaction:
            connection = transaction.connection
            locked = await lock_tasks(connection, [reading.writer, claim.uid])
            writer = locked[reading.writer]
            state = await gathering_of(connection, claim.uid)
            if state is None or not await lock_claimed(connection, claim):
                raise SplitClaimLost
            if writer.state in {TaskState.FAILED, TaskState.CANCELED}:
                return writer
            given = writer.given(reading.dataset)
            if state.entries != given:
                if closed:
                    raise NotSplittable(
                        f"of the {given} files of its input data set {state.entries} have a number"
                        " of their own"
                    )
                return writer
            last = writer.state is TaskState.FINISHED
            below = (
                _ALL
                if last
                else await complete_below(connection, reading.writer, reader=claim.uid, known=state)
            )
            made = await _make_jobs(connection, known.task, below=below, last=last, limit=page)
            more = made.more
            if made.jobs:
                await notify_ready(connection)
            if more or last:
                await hold_gathering(connection, claim, last=not more, hold=HOLD)
            else:
                await set_caught_up(connection, claim.uid)
                await park_task(connection, claim, reason="")
            if last and not more:
                ended = await decide(transaction, claim.uid, known)
        context.signal.ready()
        announce(context, ended)
    return None


async def _keep(context: WmsContext, claim: SplitClaim, found: Sequence[JobDraft]) -> None:
    """Raises ``SplitClaimLost``."""
    async with context.database.transaction() as transaction:
        if not await hold_gathering(transaction.connection, claim, last=False, hold=HOLD):
            raise SplitClaimLost
        await keep_entries(transaction.connection, claim.uid, found)
