"""List the jobs of a task."""

from uuid import UUID

from sluice.contracts.jobs.tasks import JobPage
from wms.db.jobs.job_pages import JobQuery, list_job_page
from wms.db.tasks import status
from wms.usecases.context import WmsContext


async def list_jobs(context: WmsContext, uid: UUID, query: JobQuery) -> JobPage:
    """Return a page of a task's jobs.

    Raises:
        NotFound: There is no such task.
        InvalidCursor: The query's ``after`` is not a cursor of this order.
        UnsupportedOrder: The order does not apply to this state.
    """
    async with context.database.connection() as connection:
        await status.require_task(connection, uid)
        return await list_job_page(connection, uid, query)
