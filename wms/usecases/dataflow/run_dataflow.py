"""Dataflow scheduling: tasks that stream the files of an upstream task.

Each file gets its job in the transaction that ends the file's own job (``settle_attempts``). This
module begins the dataflow, makes jobs of files that existed before, and completes the task when the
upstream task has ended. The result is the same jobs as if the task had waited for all files.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import DatasetState, TaskState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import Task
from wms.db.dataflow import dataflow_links
from wms.db.jobs.splitting import SplitClaim, count_page
from wms.db.ready_channel import notify_ready
from wms.db.tasks.task_cache import CachedTask
from wms.db.tasks.tasks import LockedTask, UpstreamRead, lock_tasks
from wms.domain.splitting.dataflow_rules import (
    can_follow,
    can_stream_inputs,
    is_grouping,
    list_streamed_inputs,
)
from wms.domain.splitting.grouping import JobDraft
from wms.usecases.context import WmsContext
from wms.usecases.dataflow.group_files import continue_grouping
from wms.usecases.splitting.claimed_task import (
    CLAIM_DURATION,
    SplitClaimLost,
    announce,
    decide,
    park,
)
from wms.usecases.splitting.read_inputs import find_usable_datasets, read_drafts, read_shared_inputs


async def begin_dataflow(
    context: WmsContext, dms: DmsClient, claim: SplitClaim, *, cached_task: CachedTask
) -> bool:
    """Begin the dataflow into a claimed waiting task whose main input is not complete.

    From the commit on, each file of the upstream task gets a job.

    Returns:
        False if the task has to wait: it cannot stream files, the upstream task has not come or has
            ended, or another input is not complete.

    Raises:
        SplitClaimLost: The claim or the task has ended.
        UnusableInput: The inputs can never be used.
        NotAvailable: The DMS does not answer.
    """
    choice = None if claim.reused_task else await _choose_upstream(context, dms, cached_task.task)
    if choice is None:
        return False
    reading, complete = choice
    shared = await read_shared_inputs(dms, cached_task.task, complete)
    async with context.database.transaction() as transaction:
        locked = await lock_tasks(transaction.connection, [reading.upstream, claim.uid])
        if locked[reading.upstream].state.final:
            return False
        has_missing_jobs = locked[reading.upstream].count_registered(reading.dataset) > 0
        if not await dataflow_links.insert_dataflow_link(
            transaction.connection,
            claim,
            reading,
            shared_inputs=shared,
            has_missing_jobs=has_missing_jobs,
            is_grouping=is_grouping(cached_task.task),
        ):
            raise SplitClaimLost
    if has_missing_jobs:
        context.signal.wake_splitting()
    return True


async def _choose_upstream(
    context: WmsContext, dms: DmsClient, task: Task
) -> tuple[UpstreamRead, Mapping[UUID, Dataset]] | None:
    """Return the data set that is streamed, and the complete ones.

    Returns:
        None if the task has to wait.
    """
    if not can_stream_inputs(task):
        return None
    complete: dict[UUID, Dataset] = {}
    unusable = set()
    for task_input in task.inputs:
        result = await find_usable_datasets(dms, [task_input])
        if isinstance(result, str):
            unusable.add(task_input.dat_in_uid)
        else:
            complete |= result
    shared_uids = {
        task_input.dat_in_uid
        for task_input in task.inputs
        if task_input not in list_streamed_inputs(task)
    }
    if len(unusable) != 1 or unusable & shared_uids:
        return None
    dataset = unusable.pop()
    async with context.database.connection() as connection:
        upstream = await dataflow_links.find_upstream_task(
            connection, dataset, chain=task.chain_uid
        )
        cached_tasks = {} if upstream is None else await context.tasks.get(connection, [upstream])
    if upstream is None or not can_follow(task, cached_tasks[upstream].task, dataset):
        return None
    return UpstreamRead(upstream, dataset), complete


async def continue_dataflow(
    context: WmsContext, dms: DmsClient, claim: SplitClaim, *, cached_task: CachedTask, page: int
) -> None:
    """Make jobs of files that lack one, for a claimed task that streams files.

    If the upstream task has finished, these are the last jobs, and the task may end: then it sends
    the messages of ``end_task``.

    Raises:
        SplitClaimLost: The claim or the task has ended.
        UnusableInput: The inputs can never be used.
        NotAvailable: The DMS does not answer.
    """
    if is_grouping(cached_task.task):
        await continue_grouping(context, dms, claim, cached_task=cached_task, page=page)
        return
    upstream = await _find_open_upstream(context, claim, cached_task)
    if upstream is None:
        return
    if upstream.state in {TaskState.FAILED, TaskState.CANCELED}:
        await park(context, claim, f"the step before it {upstream.state}")
        return
    uids = [task_input.dat_in_uid for task_input in list_streamed_inputs(cached_task.task)]
    datasets = {uid: await dms.get_dataset(uid) for uid in uids}
    complete = upstream.state is TaskState.FINISHED and all(
        dataset.state is not DatasetState.OPEN for dataset in datasets.values()
    )
    drafts: list[JobDraft] = []
    async for draft in read_drafts(dms, cached_task.task, datasets, page=page):
        if len(drafts) >= page:
            await _add_jobs(context, claim, cached_task, drafts, last=False)
            drafts = []
        drafts.append(draft)
    await _add_jobs(context, claim, cached_task, drafts, last=complete)
    if complete:
        return
    if await _find_open_upstream(context, claim, cached_task) is not None:
        await park(context, claim, "")


async def _find_open_upstream(
    context: WmsContext, claim: SplitClaim, cached_task: CachedTask
) -> LockedTask | None:
    """Return the upstream task, or None if there is nothing to do now or later.

    None means that each of its files has a job.

    Raises:
        SplitClaimLost: The claim or the task has ended.
    """
    reading = claim.reading
    assert reading is not None  # noqa: S101 - precondition
    ended = None
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        locked = await lock_tasks(connection, [reading.upstream, claim.uid])
        upstream, own = locked[reading.upstream], locked[claim.uid]
        if own.counts.total != upstream.count_registered(reading.dataset):
            return upstream
        match upstream.state:
            case TaskState.FINISHED:
                if not await count_page(
                    connection,
                    claim,
                    jobs=0,
                    place=claim.place,
                    last=True,
                    claim_duration=CLAIM_DURATION,
                ):
                    raise SplitClaimLost
                ended = await decide(transaction, claim.uid, cached_task)
            case TaskState.FAILED | TaskState.CANCELED:
                return upstream
            case _:
                await dataflow_links.set_caught_up(connection, claim.uid)
                await dataflow_links.park_task(connection, claim, reason="")
    announce(context, ended)
    return None


async def _add_jobs(
    context: WmsContext,
    claim: SplitClaim,
    cached_task: CachedTask,
    drafts: Sequence[JobDraft],
    *,
    last: bool,
) -> None:
    """Add jobs that do not exist yet, and decide the task with the ``last`` of them.

    Raises:
        SplitClaimLost: The claim or the task has ended.
    """
    ended = None
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        if not await count_page(
            connection, claim, jobs=0, place=claim.place, last=last, claim_duration=CLAIM_DURATION
        ):
            raise SplitClaimLost
        if await dataflow_links.add_jobs(connection, claim.uid, drafts):
            await notify_ready(connection)
        if last:
            ended = await decide(transaction, claim.uid, cached_task)
    context.signal.ready()
    announce(context, ended)
