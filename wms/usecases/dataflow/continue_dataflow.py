"""Continue the dataflow into a task: make missing jobs, and complete the task at its end."""

from collections.abc import Sequence

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import DatasetState, TaskState
from wms.db.dataflow import dataflow_links
from wms.db.jobs.splitting import SplitClaim, count_page
from wms.db.ready_channel import notify_ready
from wms.db.tasks.task_cache import CachedTask
from wms.db.tasks.tasks import LockedTask, lock_tasks
from wms.domain.splitting.dataflow_rules import is_grouping, list_streamed_inputs
from wms.domain.splitting.grouping import JobDraft
from wms.usecases.context import WmsContext
from wms.usecases.dataflow.continue_grouping import continue_grouping
from wms.usecases.splitting.claimed_task import (
    CLAIM_DURATION,
    SplitClaimLost,
    announce,
    decide,
    park,
)
from wms.usecases.splitting.list_drafts import list_drafts


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
    async for draft in list_drafts(dms, cached_task.task, datasets, page=page):
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
