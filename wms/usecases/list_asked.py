"""Tells the service that asks people what there is to ask."""

from uuid import UUID

from sluice.contracts.asking import AskedJobs, AskedTask, AskedTasks
from wms.db.asking import asked_jobs, asking_tasks
from wms.db.status import require_task
from wms.usecases.context import WmsContext


async def list_asking_tasks(context: WmsContext) -> AskedTasks:
    """Those that have not ended, the oldest first. Precondition, effect, messages, errors: none."""
    async with context.database.connection() as connection:
        found = await asking_tasks(connection)
        known = await context.tasks.get(connection, [one.uid for one in found])
    tasks = []
    for one in found:
        task = known[one.uid].task
        if task.needs.ask is None:
            continue
        tasks.append(
            AskedTask(
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
    return AskedTasks(tasks=tasks)


async def list_asked_jobs(context: WmsContext, uid: UUID, *, after: int, limit: int) -> AskedJobs:
    """By id, those behind ``after`` that wait for answers. Precondition: the task exists. Effect,
    messages: none. Raises ``NotFound``."""
    async with context.database.connection() as connection:
        jobs = await asked_jobs(connection, uid, after=after, limit=limit)
        if not jobs:
            await require_task(connection, uid)
    return AskedJobs(jobs=jobs)
