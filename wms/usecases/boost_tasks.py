"""Raises the ranks of tasks for as long as somebody says so."""

from sluice.contracts.tasks import Boosted, Boosts
from wms.db.ranking import set_boosts
from wms.usecases.context import WmsContext


async def boost_tasks(context: WmsContext, wanted: Boosts) -> Boosted:
    """Precondition: none; tasks that have ended, or are not known, are passed over, and so are
    those whose rank a person has set. Effect: the live tasks named, and no others, are ranked so
    much higher, at once and until this is said anew; repeated, nothing changes. Messages: none.
    Errors: none."""
    async with context.database.transaction() as transaction:
        return await set_boosts(transaction.connection, wanted.boosts, by=wanted.by)
