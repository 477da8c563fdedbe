"""Return a task: the step of a chain, with the counts of jobs of the WMS."""

from uuid import UUID

from sluice.contracts.chains.chains import ChainTask
from wfms.chains.db.reading import list_task_page
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.steps.job_counts import add_job_counts
from wfms.chains.usecases.steps.known_tasks import NoSuchTask


async def get_task(context: ChainsContext, uid: UUID) -> ChainTask:
    """Return a task. Its counts are None if the WMS does not answer or does not know it.

    Raises:
        NoSuchTask: No chain has the task.
    """
    async with context.database.connection() as connection:
        tasks, _ = await list_task_page(connection, task=uid)
    if not tasks:
        raise NoSuchTask(uid)
    return (await add_job_counts(context.wms, tasks))[0]
