"""Tell the WMS which items cannot be shown."""

from itertools import groupby

from sluice.contracts.common.problems import NotFound
from sluice.contracts.human_tasks.annotation import MAX_REASON, RefusedJob
from wfms.ask.db.refused_items import list_refused_items, withdraw_items
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
        items = await list_refused_items(connection, limit=PAGE)
    has_withdrawn = False
    for task, task_items in groupby(items, lambda item: item.task):
        unshowable = list(task_items)
        jobs = [
            RefusedJob(id=item.job, reason=item.reason[:MAX_REASON], asked_at=item.asked_at)
            for item in unshowable
        ]
        try:
            await context.wms.report_answers(task, jobs=[], refused=jobs)
        except NotFound:
            continue  # the task has ended since: the next round withdraws its items
        async with context.database.transaction() as transaction:
            await withdraw_items(transaction.connection, [item.uid for item in unshowable])
        has_withdrawn = True
    return has_withdrawn and len(items) == PAGE
