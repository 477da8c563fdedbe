"""Raises the ranks of tasks for as long as somebody says so."""

from sluice.contracts.tasks import Boosted, Boosts
from wms.db.ranking import SET_BOOSTS
from wms.usecases.context import WmsContext


async def boost_tasks(context: WmsContext, wanted: Boosts) -> Boosted:
    """Precondition: none; tasks that have ended, or are not known, are passed over, and so are
    those whose rank a person has set. Effect: the live tasks named, and no others, are ranked so
    much higher, at once and until this is said anew; repeated, nothing changes. Messages: none.
    Errors: none."""
    uids, reasons = [one.task for one in wanted.boosts], [one.reason for one in wanted.boosts]
    async with context.database.transaction() as transaction:
        rows = await transaction.connection.fetch(SET_BOOSTS, uids, reasons, wanted.by)
    return Boosted(
        raised=sum(row["boost"] > 0 for row in rows), lowered=sum(row["boost"] == 0 for row in rows)
    )
