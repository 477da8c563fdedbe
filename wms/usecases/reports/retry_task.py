"""Retry the failed and quarantined jobs of a task on request."""

from uuid import UUID

from sluice.contracts.jobs.tasks import TaskStatus
from wms.db.tasks.status import get_task_status
from wms.usecases.context import WmsContext
from wms.usecases.reports.job_retries import lock_task_to_retry, reset_failed_jobs


async def retry_task(context: WmsContext, uid: UUID) -> TaskStatus:
    """Make the failed and quarantined jobs of a live task ready, with all their attempts again.

    Jobs of human tasks become items again. A job stays as it is if a later step has formed groups
    without its file, or if people cannot be asked about its file.

    Raises:
        NotFound: There is no such task.
        Conflict: The task has ended, or a downstream task has just appeared.
    """
    async with context.database.transaction() as transaction:
        await reset_failed_jobs(transaction, await lock_task_to_retry(transaction, uid), None)
        status = await get_task_status(transaction.connection, uid)
    context.signal.ready()
    return status
