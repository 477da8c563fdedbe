"""Ranks a step against others over all chains, or switches it off."""

import structlog

from sluice.contracts.steps import RankStep
from wms.db.ready_channel import notify_ready
from wms.db.steps import set_priority
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


async def prioritise_step(context: WmsContext, new: RankStep) -> None:
    """Precondition: none; tasks of the step may come later. Effect: from the commit on jobs of the
    step, whatever their chain, are given away by rank + priority; with -1 none is, and those that
    pilots have run to their end. What is set for one template goes before what is set for all; 0
    for all takes that away. Repeating it is fine. Messages: none. Errors: none."""
    async with context.database.transaction() as transaction:
        await set_priority(transaction.connection, new)
        await notify_ready(transaction.connection)
    context.signal.ready()
    log.info("step.prioritised", step=new.step, template=new.template, priority=new.priority)
