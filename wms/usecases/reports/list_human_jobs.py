"""List the items of a human task for the service that asks people."""

from uuid import UUID

from sluice.contracts.human_tasks.annotation import HumanJobList
from wms.db.jobs.human_tasks import list_jobs_to_answer
from wms.db.tasks.status import require_task
from wms.usecases.context import WmsContext


async def list_human_jobs(
    context: WmsContext, uid: UUID, *, after: int, limit: int
) -> HumanJobList:
    """Return the jobs of the task that wait for answers and have an id above ``after``, by id.

    Raises:
        NotFound: There is no such task.
    """
    async with context.database.connection() as connection:
        jobs = await list_jobs_to_answer(connection, uid, after=after, limit=limit)
        if not jobs:
            await require_task(connection, uid)
    return HumanJobList(jobs=jobs)
