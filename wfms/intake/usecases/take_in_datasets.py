"""Takes in new data sets: asks the DMS for them, and decides which template takes each.

The decisions and the cursor's move commit together, so each data set is decided upon once, whatever
happens before or after: a crash repeats the page from the old cursor, and of two instances with the
same page the guarded move lets one win. The handing over to the chain service follows from what was
written down (``hand_over_datasets``): neither an outage there nor a template changed meanwhile
makes a second chain (invariant 1) or loses one (invariant 7).
"""

import structlog

from sluice.contracts.states import DatasetType
from wfms.intake.db import intake
from wfms.intake.db.ties import delete_old_ties
from wfms.intake.domain.matching import decide, latest_of
from wfms.intake.usecases.context import IntakeContext
from wfms.intake.usecases.record_decisions import record_decisions

log = structlog.get_logger(__name__)


async def take_in_datasets(context: IntakeContext) -> bool:
    """Effect: the next data sets closed after the cursor are decided upon, and the cursor
    is behind them. Those on demand are left alone. Messages: none. Errors: ``NotAvailable`` where
    the DMS or the operator service does not answer (nothing has changed then). True when there may
    be more."""
    database = context.database
    async with database.connection() as connection:
        cursor = await intake.read_cursor(connection)
    found = await context.dms.closed_datasets(
        after=cursor, type=DatasetType.INPUT, limit=context.page
    )
    if not found.datasets:
        return False
    wanted = [dataset for dataset in found.datasets if not dataset.on_demand]
    templates = (await context.operator.templates()).templates if wanted else []
    decisions = [(dataset, decide(dataset, templates)) for dataset in wanted]
    now = database.clock.now()
    async with database.transaction() as transaction:
        if not await intake.move_cursor(transaction.connection, old=cursor, new=found.after):
            log.info("intake.overtaken", cursor=cursor)
            return True
        await record_decisions(transaction.connection, decisions, now=now)
        if wanted:
            await delete_old_ties(transaction.connection, latest_of(templates))
    return len(found.datasets) >= context.page
