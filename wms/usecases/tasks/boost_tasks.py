"""Raise the ranks of tasks until the next such request."""

from sluice.contracts.jobs.tasks import BoostResult, Boosts
from wms.db.tasks.ranking import set_boosts
from wms.usecases.context import WmsContext


async def boost_tasks(context: WmsContext, request: Boosts) -> BoostResult:
    """Raise the ranks of the given live tasks, and of no others, until the next call.

    Unknown and ended tasks are ignored, and so are tasks whose rank a person has set. A repetition
    changes nothing.
    """
    async with context.database.transaction() as transaction:
        return await set_boosts(transaction.connection, request.boosts, by=request.by)
