"""Read tasks and their jobs."""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.attention import WorkCounts
from sluice.contracts.common.states import TaskState
from sluice.contracts.jobs.tasks import Job, JobPage, TaskStatus
from wms.db.jobs.job_pages import JobQuery, read_job_page
from wms.db.tasks import status
from wms.db.tasks.counts import read_work_counts
from wms.usecases.context import WmsContext


async def read_task_status(context: WmsContext, uid: UUID) -> TaskStatus:
    """Return the status of a task.

    Raises:
        NotFound: There is no such task.
    """
    async with context.database.connection() as connection:
        return await status.get_task_status(connection, uid)


async def read_task_statuses(
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


async def read_troubled(
    context: WmsContext,
    uids: Sequence[UUID] = (),
    *,
    state: TaskState | None = None,
    limit: int,
    visibility: Visibility = ALL,
) -> list[TaskStatus]:
    """Return live tasks with jobs that failed permanently or are quarantined.

    Tasks with quarantined jobs come first, and the newest within each kind. The arguments are those
    of ``read_task_statuses``.
    """
    async with context.database.connection() as connection:
        return await status.list_troubled_tasks(
            connection, uids, state=state, limit=limit, visibility=visibility
        )


async def count_work(
    context: WmsContext, *, troubled: bool = False, visibility: Visibility = ALL
) -> WorkCounts:
    """Return consistent counts of jobs; ``troubled`` includes the number of troubled tasks."""
    async with context.database.connection() as connection:
        return await read_work_counts(connection, troubled=troubled, visibility=visibility)


async def read_jobs(context: WmsContext, uid: UUID, query: JobQuery) -> JobPage:
    """Return a page of a task's jobs.

    Raises:
        NotFound: There is no such task.
        InvalidCursor: The query's ``after`` is not a cursor of this order.
        UnsupportedOrder: The order does not apply to this state.
    """
    async with context.database.connection() as connection:
        await status.require_task(connection, uid)
        return await read_job_page(connection, uid, query)


async def read_job(context: WmsContext, job_id: int) -> Job:
    """Return a job with its attempts.

    Raises:
        NotFound: There is no such job.
    """
    async with context.database.connection() as connection:
        return await status.get_job_with_attempts(connection, job_id)
