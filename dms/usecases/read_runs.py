"""Reading periods, runs and frames."""

from dms.db import periods
from sluice.contracts.datasets import Frame, Period, Run
from sluice.contracts.problems import NotFound
from sluice.servicekit.database import Database
from sluice.visible_text import quoted


async def read_periods(database: Database) -> list[Period]:
    async with database.connection() as connection:
        return await periods.list_periods(connection)


async def read_runs(database: Database, period: str | None) -> list[Run]:
    """All runs, or those of a period. Raises ``NotFound`` for an unknown period."""
    async with database.connection() as connection:
        if period is not None and await periods.period_by_name(connection, period) is None:
            raise NotFound(f"period {quoted(period)} is not registered", period=period)
        return await periods.list_runs(connection, period)


async def read_run(database: Database, number: int) -> Run:
    """Return a run. Raises ``NotFound``."""
    async with database.connection() as connection:
        run = await periods.run_by_number(connection, number)
    if run is None:
        raise NotFound(f"run {number} is not registered", run=number)
    return run


async def read_frames(database: Database, run: int, *, after: int, limit: int) -> list[Frame]:
    """Frames with numbers above ``after``, in order. Raises ``NotFound`` for an unknown run."""
    async with database.connection() as connection:
        if await periods.run_by_number(connection, run) is None:
            raise NotFound(f"run {run} is not registered", run=run)
        return await periods.list_frames(connection, run, after=after, limit=limit)
