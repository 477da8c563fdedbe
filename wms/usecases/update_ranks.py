"""Lets waiting tasks rise: one step of the rank formula for every live task."""

from datetime import timedelta

from wms.db.ranking import SELECT_TO_RANK, SET_RANKS
from wms.domain.rank import aging, next_rank, retries
from wms.usecases.context import WmsContext


async def update_ranks(context: WmsContext, *, every: float) -> int:
    """Precondition: none. ``every``: seconds between two steps of one task, however many instances
    do this.

    Effect: rank(i) becomes rank(i+1) by ``wms.domain.rank``. Messages: none. Returns how many tasks
    were looked at.
    """
    async with context.database.transaction() as transaction:
        rows = await transaction.connection.fetch(SELECT_TO_RANK, timedelta(seconds=0.9 * every))
        ranks = [
            next_rank(
                row["rank"],
                row["base_rank"],
                aging=aging(row["waited"]),
                retries=retries(row["failed_attempts"], row["total"]),
            )
            for row in rows
        ]
        await transaction.connection.execute(SET_RANKS, [row["uid"] for row in rows], ranks)
    return len(rows)
