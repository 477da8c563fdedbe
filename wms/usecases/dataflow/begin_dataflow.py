"""Begin the dataflow from an upstream task into a task that streams its files.

Each file gets its job in the transaction that ends the file's own job (``settle_attempts``). The
result is the same jobs as if the task had waited for all files.
"""

from collections.abc import Mapping
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import Task
from wms.db.dataflow import dataflow_links
from wms.db.jobs.splitting import SplitClaim
from wms.db.tasks.task_cache import CachedTask
from wms.db.tasks.tasks import UpstreamRead, lock_tasks
from wms.domain.splitting.dataflow_rules import (
    can_follow,
    can_stream_inputs,
    is_grouping,
    list_streamed_inputs,
)
from wms.usecases.context import WmsContext
from wms.usecases.splitting.claimed_task import SplitClaimLost
from wms.usecases.splitting.list_shared_inputs import list_shared_inputs
from wms.usecases.splitting.usable_datasets import list_usable_datasets


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
    shared = await list_shared_inputs(dms, cached_task.task, complete)
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
        result = await list_usable_datasets(dms, [task_input])
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
