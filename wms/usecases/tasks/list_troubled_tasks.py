"""List the live tasks with jobs that failed permanently or are quarantined."""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.common.states import TaskState
from sluice.contracts.jobs.tasks import TaskStatus
from wms.db.tasks import status
from wms.usecases.context import WmsContext


async def list_troubled_tasks(
    context: WmsContext,
    uids: Sequence[UUID] = (),
    *,
    state: TaskState | None = None,
    limit: int,
    visibility: Visibility = ALL,
) -> list[TaskStatus]:
    """Return live tasks with jobs that failed permanently or are quarantined.

    Tasks with quarantined jobs come first, and the newest within each kind. The arguments are those
    of ``list_tasks``.
    """
    async with context.database.connection() as connection:
        return await status.list_troubled_tasks(
            connection, uids, state=state, limit=limit, visibility=visibility
        )
