"""Take in new data sets from the DMS, and decide which template takes each.

The decisions and the move of the cursor commit together, so each data set is matched once. A crash
repeats the page from the old cursor. If two instances have the same page, the guarded move lets one
win. Handovers follow from the stored decisions (``start_chains``). So neither an outage of
the chain service nor a changed template creates a second chain (invariant 1) or loses one
(invariant 7).
"""

import structlog

from sluice.contracts.common.states import DatasetType
from wfms.intake.db import intake
from wfms.intake.db.ties import delete_old_ties
from wfms.intake.domain.matching import decide, select_latest
from wfms.intake.usecases.context import IntakeContext
from wfms.intake.usecases.record_decisions import record_decisions

log = structlog.get_logger(__name__)


async def match_datasets(context: IntakeContext) -> bool:
    """Match the next data sets closed after the cursor, and return whether there may be more.

    Data sets on demand are not matched.

    Raises:
        NotAvailable: The DMS or the operator service does not answer. Nothing has changed then.
    """
    database = context.database
    async with database.connection() as connection:
        cursor = await intake.find_cursor(connection)
    page = await context.dms.list_closed_datasets(
        after=cursor, type=DatasetType.INPUT, limit=context.page
    )
    if not page.datasets:
        return False
    candidates = [dataset for dataset in page.datasets if not dataset.on_demand]
    templates = (await context.operator.list_templates()).templates if candidates else []
    decisions = [(dataset, decide(dataset, templates)) for dataset in candidates]
    now = database.clock.now()
    async with database.transaction() as transaction:
        if not await intake.move_cursor(transaction.connection, old=cursor, new=page.after):
            log.info("cursor.moved_by_other", cursor=cursor)
            return True
        await record_decisions(transaction.connection, decisions, now=now)
        if candidates:
            await delete_old_ties(transaction.connection, select_latest(templates))
    return len(page.datasets) >= context.page
