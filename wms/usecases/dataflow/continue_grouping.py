"""Continue a task that streams the files of an upstream task and puts them into groups."""

from collections.abc import Sequence

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import DatasetState, TaskState
from wms.db.dataflow.dataflow_links import park_task, set_caught_up
from wms.db.dataflow.grouping_state import (
    find_complete_below,
    get_grouping_state,
    keep_entries,
    lock_grouping,
)
from wms.db.jobs.splitting import SplitClaim, lock_claimed
from wms.db.ready_channel import notify_ready
from wms.db.tasks.task_cache import CachedTask
from wms.db.tasks.tasks import LockedTask, lock_tasks
from wms.domain.splitting.dataflow_rules import list_streamed_inputs
from wms.domain.splitting.grouping import JobDraft
from wms.usecases.context import WmsContext
from wms.usecases.dataflow.grouped_jobs import make_grouped_jobs
from wms.usecases.splitting.claimed_task import (
    CLAIM_DURATION,
    SplitClaimLost,
    announce,
    decide,
    park,
)
from wms.usecases.splitting.input_files import UnusableInput
from wms.usecases.splitting.list_job_entries import list_job_entries

#: Above all numbers.
_ABOVE_ALL = 2**63 - 1


async def continue_grouping(
    context: WmsContext, dms: DmsClient, claim: SplitClaim, *, cached_task: CachedTask, page: int
) -> None:
    """Find missing entries in the catalogue, and make jobs of complete groups.

    The task is claimed and puts files into groups. If the upstream task has finished, all entries
    go into jobs and the task may end: then it sends the messages of ``end_task``.

    Raises:
        SplitClaimLost: The claim or the task has ended.
        UnusableInput: The inputs can never be used.
        NotAvailable: The DMS does not answer.
    """
    upstream = await _advance(context, claim, cached_task, page=page, closed=False)
    if upstream is None:
        return
    if upstream.state in {TaskState.FAILED, TaskState.CANCELED}:
        await park(context, claim, f"the step before it {upstream.state}")
        return
    uids = [task_input.dat_in_uid for task_input in list_streamed_inputs(cached_task.task)]
    datasets = {uid: await dms.get_dataset(uid) for uid in uids}
    closed = upstream.state is TaskState.FINISHED and all(
        dataset.state is not DatasetState.OPEN for dataset in datasets.values()
    )
    page_entries: list[JobDraft] = []
    async for entry in list_job_entries(dms, cached_task.task, datasets, page=page):
        if len(page_entries) >= page:
            await _keep_entries(context, claim, page_entries)
            page_entries = []
        page_entries.append(entry)
    await _keep_entries(context, claim, page_entries)
    if await _advance(context, claim, cached_task, page=page, closed=closed) is not None:
        await park(context, claim, "")


async def _advance(
    context: WmsContext, claim: SplitClaim, cached_task: CachedTask, *, page: int, closed: bool
) -> LockedTask | None:
    """Return the upstream task if it has failed or its entries are missing here.

    ``closed``: all its files were read.

    Returns:
        None if there is nothing to do now or later.

    Raises:
        SplitClaimLost: The claim or the task has ended.
        UnusableInput: Several files have the same number.
    """
    reading = claim.reading
    assert reading is not None  # noqa: S101 - precondition
    more = True
    while more:
        ended = None
        async with context.database.transaction() as transaction:
            connection = transaction.connection
            locked = await lock_tasks(connection, [reading.upstream, claim.uid])
            upstream = locked[reading.upstream]
            state = await get_grouping_state(connection, claim.uid)
            if state is None or not await lock_claimed(connection, claim):
                raise SplitClaimLost
            if upstream.state in {TaskState.FAILED, TaskState.CANCELED}:
                return upstream
            registered_files = upstream.count_registered(reading.dataset)
            if state.entries != registered_files:
                if closed:
                    raise UnusableInput(
                        f"only {state.entries} of the {registered_files} files of its input data"
                        " set have distinct numbers"
                    )
                return upstream
            last = upstream.state is TaskState.FINISHED
            below = (
                _ABOVE_ALL
                if last
                else await find_complete_below(
                    connection, reading.upstream, downstream=claim.uid, state=state
                )
            )
            new_jobs = await make_grouped_jobs(
                connection, cached_task.task, below=below, last=last, limit=page
            )
            more = new_jobs.more
            if new_jobs.jobs:
                await notify_ready(connection)
            if more or last:
                await lock_grouping(connection, claim, last=not more, claim_duration=CLAIM_DURATION)
            else:
                await set_caught_up(connection, claim.uid)
                await park_task(connection, claim, reason="")
            if last and not more:
                ended = await decide(transaction, claim.uid, cached_task)
        context.signal.ready()
        announce(context, ended)
    return None


async def _keep_entries(
    context: WmsContext, claim: SplitClaim, new_entries: Sequence[JobDraft]
) -> None:
    """Keep the entries that were found.

    Raises:
        SplitClaimLost: The claim or the task has ended.
    """
    async with context.database.transaction() as transaction:
        if not await lock_grouping(
            transaction.connection, claim, last=False, claim_duration=CLAIM_DURATION
        ):
            raise SplitClaimLost
        await keep_entries(transaction.connection, claim.uid, new_entries)
