"""Tells the WMS of what nobody can be asked about."""

from itertools import groupby

from sluice.contracts.asking import MOST_REASON, RefusedJob
from sluice.contracts.problems import NotFound
from wfms.ask.db.refusing import refused_items, told
from wfms.ask.usecases.context import AskContext

#: Items of one look.
PAGE = 200


async def refuse_items(context: AskContext) -> bool:
    """Precondition: none; several instances may do it at once.

    Effect: the jobs of items whose files are nothing that can be shown have failed, with the
    reason, and the items are withdrawn. True: there may be more. Messages: none. Raises
    ``NotAvailable``.
    """
    async with context.database.connection() as connection:
        items = await refused_items(connection, most=PAGE)
    any_told = False
    for task, of_task in groupby(items, lambda item: item.task):
        own = list(of_task)
        jobs = [
            RefusedJob(id=item.job, reason=item.reason[:MOST_REASON], asked_at=item.asked_at)
            for item in own
        ]
        try:
            await context.wms.answered(task, [], jobs)
        except NotFound:
            continue  # it has ended since: the next look withdraws its items
        async with context.database.transaction() as transaction:
            await told(transaction.connection, [item.uid for item in own])
        any_told = True
    return any_told and len(items) == PAGE
