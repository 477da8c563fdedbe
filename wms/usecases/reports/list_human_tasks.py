"""List the human tasks for the service that asks people."""

from sluice.contracts.human_tasks.annotation import HumanTask, HumanTaskList
from wms.db.jobs.human_tasks import list_live_human_tasks
from wms.usecases.context import WmsContext


async def list_human_tasks(context: WmsContext) -> HumanTaskList:
    """Return the live human tasks, oldest first."""
    async with context.database.connection() as connection:
        rows = await list_live_human_tasks(connection)
        cached_tasks = await context.tasks.get(connection, [row.uid for row in rows])
    tasks = []
    for row in rows:
        task = cached_tasks[row.uid].task
        if task.needs.ask is None:
            continue
        tasks.append(
            HumanTask(
                uid=row.uid,
                chain_uid=task.chain_uid,
                step=task.step,
                template=task.template,
                owner=row.owner,
                group=row.group,
                ask=task.needs.ask,
                output=task.main_output,
                log_out_url=task.log_out_url,
                files=list(row.shared),
                asked=row.unanswered,
            )
        )
    return HumanTaskList(tasks=tasks)
