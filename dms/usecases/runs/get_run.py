"""Get a run."""

from dms.db import periods
from sluice.contracts.common.problems import NotFound
from sluice.contracts.data.runs import Run
from sluice.servicekit.database import Database


async def get_run(database: Database, number: int) -> Run:
    """Return a run.

    Raises:
        NotFound: The run is not registered.
    """
    async with database.connection() as connection:
        run = await periods.find_run(connection, number)
    if run is None:
        raise NotFound(f"run {number} is not registered", run=number)
    return run
