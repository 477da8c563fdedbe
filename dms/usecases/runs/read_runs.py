"""Read periods, runs and frames."""

from dms.db import periods
from sluice.contracts.common.problems import NotFound
from sluice.contracts.data.runs import Frame, Period, Run
from sluice.servicekit.database import Database
from sluice.text.visible_text import quoted


async def read_periods(database: Database) -> list[Period]:
    """Return all periods by name."""
    async with database.connection() as connection:
        return await periods.list_periods(connection)


async def read_runs(database: Database, period: str | None) -> list[Run]:
    """Return all runs, or those of a period.

    Raises:
        NotFound: The period is not registered.
    """
    async with database.connection() as connection:
        if period is not None and await periods.find_period(connection, period) is None:
            raise NotFound(f"period {quoted(period)} is not registered", period=period)
        return await periods.list_runs(connection, period)


async def read_run(database: Database, number: int) -> Run:
    """Return a run.

    Raises:
        NotFound: The run is not registered.
    """
    async with database.connection() as connection:
        run = await periods.find_run(connection, number)
    if run is None:
        raise NotFound(f"run {number} is not registered", run=number)
    return run


async def read_frames(database: Database, run: int, *, after: int, limit: int) -> list[Frame]:
    """Return the frames of a run with numbers above ``after``, in order.

    Raises:
        NotFound: The run is not registered.
    """
    async with database.connection() as connection:
        if await periods.find_run(connection, run) is None:
            raise NotFound(f"run {run} is not registered", run=run)
        return await periods.list_frames(connection, run, after=after, limit=limit)
