"""Split tasks: make jobs from the files of the input data set, page by page.

Jobs of one page run while the next page is read. The DMS is asked outside of transactions. The jobs
of a page and the place to read on are committed together, guarded by the claim's token. If a
process dies, another one continues after the claim has expired, and no job is made twice (invariant
7).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

from sluice.clients.dms import DmsClient
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import TaskMode, TaskState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import Task
from sluice.servicekit.running.logging import log_ids
from sluice.servicekit.running.loop import do_nothing
from wms.db.jobs.reused_jobs import insert_reused_jobs
from wms.db.jobs.splitting import (
    SplitClaim,
    SplitPlace,
    begin_splitting,
    claim_task,
    count_page,
    insert_jobs,
)
from wms.db.ready_channel import notify_ready
from wms.db.tasks.task_cache import CachedTask
from wms.domain.splitting.grouping import Grouping, JobDraft
from wms.domain.splitting.human_tasks import explain_no_human_task
from wms.usecases.context import WmsContext
from wms.usecases.dataflow.begin_dataflow import begin_dataflow
from wms.usecases.dataflow.continue_dataflow import continue_dataflow
from wms.usecases.splitting.claimed_task import (
    CLAIM_DURATION,
    SplitClaimLost,
    announce,
    decide,
    fail,
    release,
)
from wms.usecases.splitting.input_files import UnusableInput, build_input_files, list_input_files
from wms.usecases.splitting.list_drafts import list_drafts, reads_several
from wms.usecases.splitting.list_shared_inputs import list_shared_inputs
from wms.usecases.splitting.reuse_jobs import FinishedJobReuse, ReusedJobs
from wms.usecases.splitting.usable_datasets import list_usable_datasets, require_complete
from wms.usecases.splitting.waiting_jobs import (
    TooManyReadyJobs,
    count_allowed_jobs,
    require_capacity,
)


async def split_waiting_tasks(
    context: WmsContext,
    dms: DmsClient,
    *,
    page: int = 2000,
    on_found: Callable[[], None] = do_nothing,
) -> None:
    """Look once at each task whose jobs are not made yet, and split it if its input can be used.

    If the input can never be used the task fails; otherwise it waits with a reason. Any number of
    processes may run this at the same time. ``on_found`` is called with the first task found,
    because there may be more for a helper. It sends the messages of ``end_task`` for tasks that
    end.
    """
    before: datetime | None = None
    while True:
        async with context.database.connection() as connection:
            claim = await claim_task(
                connection, uuid4(), before=before, claim_duration=CLAIM_DURATION
            )
            if claim is None:
                return
            cached_task = (await context.tasks.get(connection, [claim.uid]))[claim.uid]
        if before is None:
            before = claim.claimed_at
            on_found()
        with log_ids(
            task=claim.uid,
            chain=cached_task.task.chain_uid,
            dataset=cached_task.task.main_input.dat_in_uid,
        ):
            await _split(context, dms, claim, cached_task=cached_task, page=page)


async def _split(
    context: WmsContext, dms: DmsClient, claim: SplitClaim, *, cached_task: CachedTask, page: int
) -> None:
    try:
        if claim.reading is not None:
            await continue_dataflow(context, dms, claim, cached_task=cached_task, page=page)
            return
        if (
            cached_task.task.needs.ask is not None
            and (why := explain_no_human_task(cached_task.task)) is not None
        ):
            raise UnusableInput(why)
        datasets = await list_usable_datasets(dms, cached_task.task.inputs)
        if isinstance(datasets, str):
            if not await begin_dataflow(context, dms, claim, cached_task=cached_task):
                await release(context, claim, datasets)
            return
        if claim.state is TaskState.WAITING:
            await _begin(context, claim, await list_shared_inputs(dms, cached_task.task, datasets))
        make = _make_joined_jobs if reads_several(cached_task.task) else _make_jobs
        before = (
            FinishedJobReuse(
                context.database,
                dms,
                cached_task,
                claim.reused_task,
                checks_outputs=context.output_check is not None,
            )
            if claim.reused_task
            else None
        )
        await make(
            context,
            dms,
            claim,
            cached_task=cached_task,
            datasets=datasets,
            page=page,
            before=before,
        )
    except TooManyReadyJobs as full:
        await release(context, claim, str(full))
    except NotAvailable as error:
        await release(context, claim, f"waiting for the DMS: {error.detail}")
    except UnusableInput as error:
        await fail(context, claim, cached_task, str(error))
    except SplitClaimLost:
        return


async def _make_jobs(
    context: WmsContext,
    dms: DmsClient,
    claim: SplitClaim,
    *,
    cached_task: CachedTask,
    datasets: Mapping[UUID, Dataset],
    page: int,
    before: FinishedJobReuse | None,
) -> None:
    dataset = datasets[cached_task.task.main_input.dat_in_uid]
    grouping = Grouping(
        cached_task.task.mode,
        cached_task.task.groups,
        number=claim.place.group,
        batch=cached_task.task.batch,
    )
    place, last_seq = claim.place, claim.place.last_seq
    cursor, skip = place.cursor, place.skip
    while True:
        limit = await _count_files_to_read(context, claim, cached_task, page=page)
        answer = await list_input_files(
            dms, dataset, cursor, limit=limit, released=before is not None
        )
        skipped = min(skip, len(answer.files))
        skip -= skipped
        files = answer.files[skipped:]
        drafts = list(grouping.add(build_input_files(files)))
        if answer.after is None:
            drafts += grouping.finish()
        last_seq = _require_order(drafts, last_seq, dataset)
        if grouping.waiting == 0 and skip == 0:
            place = SplitPlace(answer.after)
        elif 0 < grouping.waiting <= len(files):
            place = SplitPlace(cursor, len(answer.files) - grouping.waiting)
        place = replace(place, group=grouping.number, last_seq=last_seq)
        if answer.after is None and before is None:
            await require_complete(dms, datasets)
        await _add_page(
            context,
            claim,
            cached_task,
            drafts,
            place=place,
            last=answer.after is None,
            before=before,
        )
        if answer.after is None:
            return
        cursor = answer.after


async def _make_joined_jobs(
    context: WmsContext,
    dms: DmsClient,
    claim: SplitClaim,
    *,
    cached_task: CachedTask,
    datasets: Mapping[UUID, Dataset],
    page: int,
    before: FinishedJobReuse | None,
) -> None:
    """Make jobs of several data sets.

    They are read from their beginning, also after a crash; existing jobs are skipped.
    """
    dataset, last_seq = datasets[cached_task.task.main_input.dat_in_uid], claim.place.last_seq
    drafts: list[JobDraft] = []

    async def add(*, last: bool) -> int:
        highest_seq = _require_order(drafts, last_seq, dataset)
        place = SplitPlace(last_seq=highest_seq)
        await _add_page(context, claim, cached_task, drafts, place=place, last=last, before=before)
        return highest_seq

    draft_stream = list_drafts(
        dms, cached_task.task, datasets, page=page, released=before is not None
    )
    at_once = await _count_files_to_read(context, claim, cached_task, page=page)
    async for draft in draft_stream:
        if draft.seq <= claim.place.last_seq:
            continue
        # Checked before the next job is added, so that the last job is committed with the end.
        if len(drafts) >= at_once:
            last_seq = await add(last=False)
            drafts = []
        drafts.append(draft)
    if before is None:
        await require_complete(dms, datasets)
    await add(last=True)


def _require_order(drafts: Sequence[JobDraft], last: int, dataset: Dataset) -> int:
    """Return the last seq used.

    Raises:
        UnusableInput: Two jobs would have the same seq.
    """
    for draft in drafts:
        if draft.seq <= last:
            raise UnusableInput(
                f"its input data set {dataset.name} has two files with sequence number {draft.seq},"
                f" one of them {draft.inputs[0].name}: each file needs its own number"
            )
        last = draft.last_seq
    return last


async def _add_page(
    context: WmsContext,
    claim: SplitClaim,
    cached_task: CachedTask,
    drafts: Sequence[JobDraft],
    *,
    place: SplitPlace,
    last: bool,
    before: FinishedJobReuse | None = None,
) -> None:
    """Add jobs, counters and the place to read on in one transaction.

    Jobs taken over from ``before`` are finished.

    Raises:
        SplitClaimLost: The claim or the task has ended.
        TooManyReadyJobs: A quota permits no more ready jobs.
        UnusableInput: Jobs cannot be taken over.
        NotAvailable: The DMS does not answer.
    """
    reused = ReusedJobs() if before is None else await before.take(drafts)
    seqs, ended, is_human = reused.seqs, None, cached_task.task.needs.ask is not None
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        waiting = 0 if is_human else len(drafts) - len(reused.jobs)
        await require_capacity(connection, claim.holders, jobs=waiting)
        if not await count_page(
            connection,
            claim,
            jobs=len(drafts),
            place=place,
            last=last,
            claim_duration=CLAIM_DURATION,
        ):
            raise SplitClaimLost
        if drafts:
            new = [draft for draft in drafts if draft.seq not in seqs]
            await insert_jobs(connection, claim.uid, new, by_people=is_human)
            if reused.jobs:
                await insert_reused_jobs(connection, claim.uid, reused.jobs, files=reused.files)
            await notify_ready(connection)
        if last:
            ended = await decide(transaction, claim.uid, cached_task)
    context.signal.ready()
    if reused.jobs:
        context.signal.wake_splitting()
    announce(context, ended)


async def _count_files_to_read(
    context: WmsContext, claim: SplitClaim, cached_task: CachedTask, *, page: int
) -> int:
    """Return how many files to read, so that the ready jobs stay within the quotas.

    Jobs of human tasks are not limited.

    Raises:
        TooManyReadyJobs: A quota permits no more ready jobs.
    """
    if cached_task.task.needs.ask is not None:
        return page
    async with context.database.connection() as connection:
        jobs = await count_allowed_jobs(connection, claim.holders, limit=page)
    return min(page, jobs * _count_files_per_job(cached_task.task, page))


def _count_files_per_job(task: Task, page: int) -> int:
    """Return the least number of files in a job; ``page`` stands for all files."""
    if task.mode is TaskMode.MAP:
        return task.batch
    return task.groups.files or (page if task.groups.bytes is None else 1)


async def _begin(
    context: WmsContext, claim: SplitClaim, shared_inputs: Sequence[InputFile]
) -> None:
    async with context.database.connection() as connection:
        if not await begin_splitting(connection, claim, shared_inputs=shared_inputs):
            raise SplitClaimLost
