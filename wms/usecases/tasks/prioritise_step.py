"""Set the priority of a step across all chains, or disable it."""

import structlog

from sluice.contracts.jobs.steps import RankStep
from wms.db.ready_channel import notify_ready
from wms.db.tasks.steps import set_priority
from wms.usecases.context import WmsContext

log = structlog.get_logger(__name__)


async def prioritise_step(context: WmsContext, new: RankStep) -> None:
    """Set the priority of a step; it is added to the ranks of its tasks from the commit on.

    With -1 no job of the step is leased; jobs at pilots run to their end. A priority for one
    template overrides the one for all templates, and 0 for all deletes that one. Tasks of the step
    may come later. A repetition changes nothing.
    """
    async with context.database.transaction() as transaction:
        await set_priority(transaction.connection, new)
        await notify_ready(transaction.connection)
    context.signal.ready()
    log.info("step.prioritised", step=new.step, template=new.template, priority=new.priority)
