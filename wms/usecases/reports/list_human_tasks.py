"""List the human tasks and their items for the service that asks people."""

from uuid import UUID

from sluice.contracts.human_tasks.asking import HumanJobList, HumanTask, HumanTaskList
from wms.db.jobs.human_tasks import human_jobs, live_human_tasks
from wms.db.tasks.status import require_task
from wms.usecases.context import WmsContext


async def list_human_tasks(context: WmsContext) -> HumanTaskList:
    """Return the live human tasks, oldest first."""
    async with context.database.connection() as connection:
        found = await live_human_tasks(connection)
        known = await context.tasks.get(connection, [one.uid for one in found])
    tasks = []
    for one in found:
        task = known[one.uid].task
        if task.needs.ask is None:
            continue
        tasks.append(
            HumanTask(
                uid=one.uid,
                chain_uid=task.chain_uid,
                step=task.step,
                template=task.template,
                owner=one.owner,
                group=one.group,
                ask=task.needs.ask,
                output=task.main_output,
                log_out_url=task.log_out_url,
                files=list(one.shared),
                asked=one.asked,
            )
        )
    return HumanTaskList(tasks=tasks)


async def list_human_jobs(
    context: WmsContext, uid: UUID, *, after: int, limit: int
) -> HumanJobList:
    """Return the jobs of the task that wait for answers and have an id above ``after``, by id.

    Raises:
        NotFound: There is no such task.
    """
    async with context.database.connection() as connection:
        jobs = await human_jobs(connection, uid, after=after, limit=limit)
        if not jobs:
            await require_task(connection, uid)
    return HumanJobList(jobs=jobs)
