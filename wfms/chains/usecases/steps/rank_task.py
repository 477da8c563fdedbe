"""Rank a task in the WMS, which owns it."""

from uuid import UUID

from sluice.contracts.jobs.tasks import TaskStatus
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.steps.known_tasks import require_task


async def rank_task(context: ChainsContext, uid: UUID, rank: float) -> TaskStatus:
    """Give a task another rank.

    Raises:
        NoSuchTask: No chain has the task.
        ServiceError: The WMS refuses the request or does not answer.
    """
    await require_task(context.database, uid)
    return await context.wms.prioritise_task(uid, rank=rank)
