"""Forward operators' requests about one task (cancel, rank) to the WMS, which owns it."""

from uuid import UUID

from sluice.contracts.jobs.tasks import Cancel, TaskStatus
from sluice.servicekit.database import Database
from wfms.chains.db.reading import read_task_page
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.read_tasks import NoSuchTask


async def forward_cancel(context: ChainsContext, uid: UUID, request: Cancel) -> TaskStatus:
    """Cancel a task; its chain ends when the watcher reports the task's end.

    Raises:
        NoSuchTask: No chain has the task.
        ServiceError: The WMS refuses the request or does not answer.
    """
    await _require_task(context.database, uid)
    return await context.wms.cancel_task(uid, request)


async def forward_rank(context: ChainsContext, uid: UUID, rank: float) -> TaskStatus:
    """Give a task another rank.

    Raises:
        NoSuchTask: No chain has the task.
        ServiceError: The WMS refuses the request or does not answer.
    """
    await _require_task(context.database, uid)
    return await context.wms.prioritise_task(uid, rank=rank)


async def _require_task(database: Database, uid: UUID) -> None:
    async with database.connection() as connection:
        if not (await read_task_page(connection, task=uid))[0]:
            raise NoSuchTask(uid)
