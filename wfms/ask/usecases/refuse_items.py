"""Tell the WMS which items cannot be shown."""

from itertools import groupby

from sluice.contracts.common.problems import NotFound
from sluice.contracts.human_tasks.asking import MAX_REASON, RefusedJob
from wfms.ask.db.refusing import refused_items, told
from wfms.ask.usecases.context import AskContext

#: Items in one round.
PAGE = 200


async def refuse_items(context: AskContext) -> bool:
    """Tell the WMS which items cannot be shown; their jobs fail with the reason.

    Several instances may run it at once. The items are withdrawn.

    Returns:
        Whether there may be more.

    Raises:
        NotAvailable: The WMS does not answer.
    """
    async with context.database.connection() as connection:
        items = await refused_items(connection, most=PAGE)
    any_told = False
    for task, of_task in groupby(items, lambda item: item.task):
        own = list(of_task)
        jobs = [
            RefusedJob(id=item.job, reason=item.reason[:MAX_REASON], asked_at=item.asked_at)
            for item in own
        ]
        try:
            await context.wms.answered(task, [], jobs)
        except NotFound:
            continue  # the task has ended since: the next round withdraws its items
        async with context.database.transaction() as transaction:
            await told(transaction.connection, [item.uid for item in own])
        any_told = True
    return any_told and len(items) == PAGE
