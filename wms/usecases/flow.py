"""Tasks that take the files of the task before as they come. A job is made of each in the
transaction that ends the file's own job (``settle_attempts``); here such a task begins with that,
finds the files that were given before, and ends with the task before: what then lacks a job gets
one, so that it has the same jobs as if it had waited.
"""

from collections.abc import Sequence

from sluice.clients.dms import DmsClient
from sluice.contracts.states import DatasetState, TaskState
from wms.db import flows
from wms.db.ready_channel import notify_ready
from wms.db.splitting import SplitClaim, count_page
from wms.db.task_cache import KnownTask
from wms.db.tasks import LockedTask, Reading, lock_tasks
from wms.domain.flow import takes_as_they_come
from wms.domain.grouping import JobDraft
from wms.usecases.claimed_task import HOLD, SplitClaimLost, decide
from wms.usecases.context import WmsContext
from wms.usecases.read_files import input_files, read_page
from wms.usecases.read_inputs import shared_inputs, usable_datasets


async def begin_flow(
    context: WmsContext, dms: DmsClient, claim: SplitClaim, *, known: KnownTask
) -> bool:
    """Precondition: a waiting task is claimed whose main input is not complete.

    Effect: from the commit on it gets a job for each file that the task before gives. False where
    it has to wait: it cannot take files so, the task before has not come yet or has ended, or
    something else that it reads is not complete. Messages: none. Raises ``SplitClaimLost``,
    ``NotSplittable``, ``NotAvailable``.
    """
    task = known.task
    if claim.taken_over is not None or not takes_as_they_come(task):
        return False
    sides = await usable_datasets(dms, task.side_inputs)
    if isinstance(sides, str):
        return False
    dataset = task.main_input.dat_in_uid
    async with context.database.connection() as connection:
        writer = await flows.writer_of(connection, dataset, chain=task.chain_uid)
    if writer is None:
        return False
    shared = await shared_inputs(dms, task, sides)
    async with context.database.transaction() as transaction:
        locked = await lock_tasks(transaction.connection, [writer, claim.uid])
        if locked[writer].state.final:
            return False
        lacks = locked[writer].given(dataset) > 0
        if not await flows.begin_flow(
            transaction.connection, claim, Reading(writer, dataset), shared=shared, due=lacks
        ):
            raise SplitClaimLost
    if lacks:
        context.signal.wake_splitting()
    return True


async def carry_on(
    context: WmsContext, dms: DmsClient, claim: SplitClaim, *, known: KnownTask, page: int
) -> None:
    """Precondition: a task is claimed that takes files as they come.

    Effect: files that lack a job have one; with the task before finished, those are all. Messages:
    those of ``end_task`` where that decides the task. Raises ``SplitClaimLost``, ``NotSplittable``,
    ``NotAvailable``.
    """
    writer = await _look(context, claim, known)
    if writer is None:
        return
    if writer.state in {TaskState.FAILED, TaskState.CANCELED}:
        await _park(context, claim, f"the step before it {writer.state}")
        return
    dataset = await dms.dataset(known.task.main_input.dat_in_uid)
    cursor: str | None = None
    while True:
        answer = await read_page(dms, dataset, cursor, limit=page)
        drafts = [JobDraft(file.seq, [file]) for file in input_files(answer.files)]
        all_given = writer.state is TaskState.FINISHED and dataset.state is not DatasetState.OPEN
        last = answer.next is None
        await _add(context, claim, known, drafts, last=last and all_given)
        if last and all_given:
            return
        if last:
            break
        cursor = answer.next
    if await _look(context, claim, known) is not None:
        await _park(context, claim, "")


async def _look(context: WmsContext, claim: SplitClaim, known: KnownTask) -> LockedTask | None:
    """The task before; None: each file that it gave has a job, and nothing is to be done for
    now, or any more. Raises ``SplitClaimLost``."""
    assert claim.writer is not None  # noqa: S101 - precondition
    ended = None
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        locked = await lock_tasks(connection, [claim.writer, claim.uid])
        writer, own = locked[claim.writer], locked[claim.uid]
        given = writer.given(known.task.main_input.dat_in_uid)
        if own.counts.total != given:
            return writer
        match writer.state:
            case TaskState.FINISHED:
                if not await count_page(
                    connection, claim, jobs=0, place=claim.place, last=True, hold=HOLD
                ):
                    raise SplitClaimLost
                ended = await decide(transaction, claim.uid, known)
            case TaskState.FAILED | TaskState.CANCELED:
                return writer
            case _:
                await flows.set_caught_up(connection, claim.uid)
                await flows.park_task(connection, claim, reason="")
    if ended is not None:
        context.metrics.tasks_ended.labels(ended.state).inc()
    return None


async def _park(context: WmsContext, claim: SplitClaim, reason: str) -> None:
    async with context.database.connection() as connection:
        await flows.park_task(connection, claim, reason=reason)


async def _add(
    context: WmsContext,
    claim: SplitClaim,
    known: KnownTask,
    drafts: Sequence[JobDraft],
    *,
    last: bool,
) -> None:
    """Jobs that there are not yet, and, with the ``last`` of them, the decision on the task. Raises
    ``SplitClaimLost``."""
    ended = None
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        if not await count_page(connection, claim, jobs=0, place=claim.place, last=last, hold=HOLD):
            raise SplitClaimLost
        if await flows.add_jobs(connection, claim.uid, drafts):
            await notify_ready(connection)
        if last:
            ended = await decide(transaction, claim.uid, known)
    context.signal.ready()
    if ended is not None:
        context.metrics.tasks_ended.labels(ended.state).inc()
