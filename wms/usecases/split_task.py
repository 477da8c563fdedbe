"""Makes a task's jobs from the files of its input data set, page by page; those made run while the
next page is read.

Load, process, apply: the DMS is asked outside of transactions; each page's jobs and the place to
read on commit together, guarded by the claim's token. Whoever dies in between is replaced when its
claim has run out, and no job is made twice (invariant 7).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sluice.clients.dms import DmsClient
from sluice.contracts.datasets import Dataset
from sluice.contracts.pilots import InputFile
from sluice.contracts.problems import NotAvailable
from sluice.contracts.states import TaskState
from sluice.servicekit.database import Transaction
from sluice.servicekit.logging import log_ids
from wms.db import splitting as sql
from wms.db.jobs import NOTIFY_READY
from wms.db.known_tasks import KnownTask
from wms.db.takeover import insert_taken
from wms.db.tasks import lock_tasks
from wms.db.tree import read_parts
from wms.domain.boundary import Ending, ending
from wms.domain.grouping import Grouping, JobDraft
from wms.usecases.context import WmsContext
from wms.usecases.end_task import end_task
from wms.usecases.read_files import NotSplittable, input_files, read_page
from wms.usecases.read_inputs import joined_drafts, reads_several, shared_inputs, usable_datasets
from wms.usecases.take_over import FinishedBefore, Taken

#: How long a claim holds without a page added.
HOLD = timedelta(seconds=60)


class ClaimLost(Exception):
    """The task was canceled, or the claim ran out and somebody else goes on: nothing more is to be
    done here."""


@dataclass(frozen=True, slots=True)
class _Position:
    """Where reading goes on after a crash: the page at ``cursor``, of which ``skip`` files have
    jobs."""

    cursor: str | None
    skip: int


async def split_waiting_tasks(context: WmsContext, dms: DmsClient, *, page: int = 2000) -> None:
    """Precondition: none; several may run at once, in any number of processes.

    Effect: every task whose jobs are not made yet is looked at once: split if its input can be
    worked with, failed if it never will be, else left waiting with the reason. Messages: those of
    ``end_task`` for tasks that end by it. Errors: none of its own.
    """
    async with context.database.connection() as connection:
        before: datetime = await connection.fetchval(sql.NOW)
    while True:
        async with context.database.connection() as connection:
            claim = await sql.claim_task(connection, uuid4(), before=before, hold=HOLD)
            if claim is None:
                return
            known = (await context.tasks.get(connection, [claim.uid]))[claim.uid]
        with log_ids(task=claim.uid, chain=known.task.chain_uid, dataset=known.task.dat_in_uid):
            await _split(context, dms, claim, known=known, page=page)


async def _split(
    context: WmsContext, dms: DmsClient, claim: sql.SplitClaim, *, known: KnownTask, page: int
) -> None:
    try:
        datasets = await usable_datasets(dms, known.task)
        if isinstance(datasets, str):
            await _release(context, claim, datasets)
            return
        if claim.state is TaskState.WAITING:
            await _begin(context, claim, await shared_inputs(dms, known.task, datasets))
        make = _make_joined_jobs if reads_several(known.task) else _make_jobs
        before = (
            FinishedBefore(context.database, dms, known, claim.taken_over)
            if claim.taken_over
            else None
        )
        if claim.parts_first >= 0:
            await _make_level(context, claim, known, page=page)
            return
        await make(context, dms, claim, known=known, datasets=datasets, page=page, before=before)
    except NotAvailable as error:
        await _release(context, claim, f"waiting for the DMS: {error.detail}")
    except NotSplittable as error:
        await _fail(context, claim, known, str(error))
    except ClaimLost:
        return


async def _make_jobs(
    context: WmsContext,
    dms: DmsClient,
    claim: sql.SplitClaim,
    *,
    known: KnownTask,
    datasets: Mapping[UUID, Dataset],
    page: int,
    before: FinishedBefore | None,
) -> None:
    dataset = datasets[known.task.dat_in_uid]
    grouping = Grouping(
        known.task.mode, known.task.groups, number=claim.group, batch=known.task.batch
    )
    position, last_seq = _Position(claim.cursor, claim.skip), claim.last_seq
    cursor, skip = claim.cursor, claim.skip
    while True:
        answer = await read_page(dms, dataset, cursor, limit=page)
        skipped = min(skip, len(answer.files))
        skip -= skipped
        files = answer.files[skipped:]
        drafts = list(grouping.add(input_files(files)))
        if answer.next is None:
            drafts += grouping.rest()
        last_seq = _in_order(drafts, last_seq, dataset)
        if grouping.waiting == 0 and skip == 0:
            position = _Position(answer.next, 0)
        elif 0 < grouping.waiting <= len(files):
            position = _Position(cursor, len(answer.files) - grouping.waiting)
        progress = _Progress(drafts, position, grouping.number, last_seq, last=answer.next is None)
        await _add_page(context, claim, known, progress, before=before)
        if answer.next is None:
            return
        cursor = answer.next


async def _make_joined_jobs(
    context: WmsContext,
    dms: DmsClient,
    claim: sql.SplitClaim,
    *,
    known: KnownTask,
    datasets: Mapping[UUID, Dataset],
    page: int,
    before: FinishedBefore | None,
) -> None:
    """Several data sets are read from their beginning, also after a crash; jobs made before are
    passed over."""
    dataset, last_seq = datasets[known.task.dat_in_uid], claim.last_seq
    drafts: list[JobDraft] = []

    async def add(*, last: bool) -> int:
        highest = _in_order(drafts, last_seq, dataset)
        await _add_page(
            context,
            claim,
            known,
            _Progress(drafts, _Position(None, 0), 0, highest, last=last),
            before=before,
        )
        return highest

    async for draft in joined_drafts(dms, known.task, datasets, page=page):
        if draft.seq <= claim.last_seq:
            continue
        if (
            len(drafts) >= page
        ):  # asked before the next one, so that the last job is made with the end
            last_seq = await add(last=False)
            drafts = []
        drafts.append(draft)
    await add(last=True)


async def _make_level(
    context: WmsContext, claim: sql.SplitClaim, known: KnownTask, *, page: int
) -> None:
    """The jobs of a further level of a tree, of what those of the level before gave. Read from the
    beginning after a crash."""
    grouping = Grouping(known.task.mode, known.task.groups, number=claim.level_first)
    after, last_seq = claim.parts_first - 1, claim.last_seq
    while True:
        async with context.database.connection() as connection:
            parts = await read_parts(
                connection, known.task.uid, after=after, before=claim.level_first, limit=page
            )
        files = [InputFile(seq=seq, **file) for seq, file in parts]
        drafts = [*grouping.add(files), *(() if len(parts) == page else grouping.rest())]
        drafts = [draft for draft in drafts if draft.seq > last_seq]
        last_seq = drafts[-1].seq if drafts else last_seq
        place = _Position(None, 0)
        await _add_page(
            context,
            claim,
            known,
            _Progress(drafts, place, grouping.number, last_seq, last=len(parts) < page),
        )
        if len(parts) < page:
            return
        after = parts[-1][0]


def _in_order(drafts: Sequence[JobDraft], last: int, dataset: Dataset) -> int:
    """The last seq used. Raises ``NotSplittable`` where two jobs would have the same."""
    for draft in drafts:
        if draft.seq <= last:
            raise NotSplittable(
                f"its input data set {dataset.name} has two files with sequence number {draft.seq},"
                f" one of them {draft.inputs[0].name}: each file needs a number of its own"
            )
        last = draft.last_seq
    return last


@dataclass(frozen=True, slots=True)
class _Progress:
    drafts: Sequence[JobDraft]
    position: _Position
    group: int
    last_seq: int
    last: bool


async def _add_page(
    context: WmsContext,
    claim: sql.SplitClaim,
    known: KnownTask,
    progress: _Progress,
    *,
    before: FinishedBefore | None = None,
) -> None:
    """Jobs, counters and the place to read on, in one transaction; jobs taken over from ``before``
    are finished. Raises ``ClaimLost``, ``NotSplittable``, ``NotAvailable``."""
    place = progress.position
    jobs = [(draft.seq, [_as_stored(file) for file in draft.inputs]) for draft in progress.drafts]
    drafts = [(draft, inputs) for draft, (_, inputs) in zip(progress.drafts, jobs, strict=True)]
    taken = Taken() if before is None else await before.take(drafts)
    async with context.database.transaction() as transaction:
        guard = await transaction.connection.fetchval(
            sql.ADD_PAGE,
            claim.uid,
            claim.token,
            len(jobs),
            place.cursor,
            place.skip,
            progress.group,
            progress.last_seq,
            progress.last,
            HOLD,
        )
        if guard is None:
            raise ClaimLost
        if jobs:
            await sql.insert_jobs(
                transaction.connection, claim.uid, [job for job in jobs if job[0] not in taken.seqs]
            )
            if taken.jobs:
                await insert_taken(transaction.connection, claim.uid, taken.jobs, files=taken.files)
            await transaction.connection.execute(NOTIFY_READY)
        ended = await _decide(transaction, claim.uid, known) if progress.last else None
    context.signal.ready()
    if ended is not None:
        context.metrics.tasks_ended.labels(ended.state).inc()


def _as_stored(file: InputFile) -> dict[str, Any]:
    """Without a port where there is none: instances of the release before refuse it."""
    return file.model_dump(exclude=None if file.port else {"port"})


async def _decide(transaction: Transaction, uid: UUID, known: KnownTask) -> Ending | None:
    """All jobs exist now: those that ran meanwhile may have decided the task; one without jobs
    fails."""
    task = (await lock_tasks(transaction.connection, [uid]))[uid]
    decided = ending(known.task.boundary, task.counts)
    return decided if decided is not None and await end_task(transaction, known, decided) else None


async def _begin(context: WmsContext, claim: sql.SplitClaim, shared: Sequence[InputFile]) -> None:
    stored = [_as_stored(file) for file in shared] or None
    async with context.database.connection() as connection:
        if await connection.fetchval(sql.BEGIN_SPLITTING, claim.uid, claim.token, stored) is None:
            raise ClaimLost


async def _release(context: WmsContext, claim: sql.SplitClaim, reason: str) -> None:
    async with context.database.connection() as connection:
        await connection.execute(sql.RELEASE_TASK, claim.uid, claim.token, reason)


async def _fail(context: WmsContext, claim: sql.SplitClaim, known: KnownTask, reason: str) -> None:
    async with context.database.transaction() as transaction:
        if await transaction.connection.fetchval(sql.HELD_TASK, claim.uid, claim.token) is None:
            return
        await end_task(transaction, known, Ending(TaskState.FAILED, reason))
    context.metrics.tasks_ended.labels(TaskState.FAILED).inc()
