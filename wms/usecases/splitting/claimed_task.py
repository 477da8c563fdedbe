"""Release, park, fail or complete a task that is claimed for splitting."""

from datetime import timedelta
from uuid import UUID

from sluice.contracts.common.states import TaskState
from sluice.servicekit.database import Transaction
from wms.db.dataflow.dataflow_links import park_task
from wms.db.jobs.splitting import SplitClaim, lock_claimed, release_task
from wms.db.ready_channel import notify_ready
from wms.db.tasks.task_cache import CachedTask
from wms.db.tasks.tasks import lock_tasks
from wms.domain.task_completion import TaskEnding, decide_ending
from wms.usecases.context import WmsContext
from wms.usecases.dataflow.extend_tree import extend_tree
from wms.usecases.tasks.end_task import end_task

#: Duration of a claim without a page added.
CLAIM_DURATION = timedelta(seconds=60)


class SplitClaimLost(Exception):
    """The task was canceled, or the claim expired and another process continues: stop here."""


async def release(context: WmsContext, claim: SplitClaim, reason: str) -> None:
    """End the claim, so that the task is looked at again later."""
    async with context.database.connection() as connection:
        await release_task(connection, claim, reason=reason)


async def park(context: WmsContext, claim: SplitClaim, reason: str) -> None:
    """Let a task that streams files wait for the ends of upstream jobs.

    ``reason`` says for people why it waits.
    """
    async with context.database.connection() as connection:
        await park_task(connection, claim, reason=reason)


async def fail(
    context: WmsContext, claim: SplitClaim, cached_task: CachedTask, reason: str
) -> None:
    """Let the task fail; it sends the messages of ``end_task``."""
    async with context.database.transaction() as transaction:
        if not await lock_claimed(transaction.connection, claim):
            return
        ended = TaskEnding(TaskState.FAILED, reason)
        await end_task(transaction, cached_task, ended)
    announce(context, ended)


def announce(context: WmsContext, task_ending: TaskEnding | None) -> None:
    """Count the ended task and wake its downstream tasks; call it after the commit."""
    if task_ending is not None:
        context.metrics.tasks_ended.labels(task_ending.state).inc()
        context.signal.wake_splitting()


async def decide(transaction: Transaction, uid: UUID, cached_task: CachedTask) -> TaskEnding | None:
    """End the task if its jobs decide it, now that all jobs (of a tree: of the first level) exist.

    Jobs that ran meanwhile may have decided it, and a task without jobs is finished. It sends the
    messages of ``end_task``.
    """
    task = (await lock_tasks(transaction.connection, [uid]))[uid]
    counts = task.counts
    if cached_task.task.parts_uid is not None:
        grown = await extend_tree(transaction.connection, cached_task.task, task, levels=[1])
        counts = counts.with_ready(grown)
        if grown:
            await notify_ready(transaction.connection)
    decided = decide_ending(cached_task.task.boundary, counts)
    if decided is None or not await end_task(transaction, cached_task, decided):
        return None
    return decided
