"""Get a job with its attempts."""

from sluice.contracts.jobs.tasks import Job
from wms.db.tasks import status
from wms.usecases.context import WmsContext


async def get_job(context: WmsContext, job_id: int) -> Job:
    """Return a job with its attempts.

    Raises:
        NotFound: There is no such job.
    """
    async with context.database.connection() as connection:
        return await status.get_job_with_attempts(connection, job_id)
