"""List the status of tasks."""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.common.states import TaskState
from sluice.contracts.jobs.tasks import TaskStatus
from wms.db.tasks import status
from wms.usecases.context import WmsContext


async def list_tasks(
    context: WmsContext,
    uids: Sequence[UUID],
    *,
    state: TaskState | None,
    limit: int,
    visibility: Visibility = ALL,
) -> list[TaskStatus]:
    """Return the status of those of ``uids`` that exist, or of the latest tasks without ``uids``.

    ``state`` selects one state.
    """
    async with context.database.connection() as connection:
        if not uids:
            return await status.list_latest_tasks(
                connection, state=state, limit=limit, visibility=visibility
            )
        statuses = await status.list_task_statuses(connection, uids, visibility=visibility)
        return [task for task in statuses if state is None or task.state is state]
