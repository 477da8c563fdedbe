"""List runs."""

from dms.db import periods
from sluice.contracts.common.problems import NotFound
from sluice.contracts.data.runs import Run
from sluice.servicekit.database import Database
from sluice.text.visible_text import quoted


async def list_runs(database: Database, period: str | None) -> list[Run]:
    """Return all runs, or those of a period.

    Raises:
        NotFound: The period is not registered.
    """
    async with database.connection() as connection:
        if period is not None and await periods.find_period(connection, period) is None:
            raise NotFound(f"period {quoted(period)} is not registered", period=period)
        return await periods.list_runs(connection, period)
