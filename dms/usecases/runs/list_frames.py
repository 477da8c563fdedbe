"""List the frames of a run."""

from dms.db import periods
from sluice.contracts.common.problems import NotFound
from sluice.contracts.data.runs import Frame
from sluice.servicekit.database import Database


async def list_frames(database: Database, run: int, *, after: int, limit: int) -> list[Frame]:
    """Return the frames of a run with numbers above ``after``, in order.

    Raises:
        NotFound: The run is not registered.
    """
    async with database.connection() as connection:
        if await periods.find_run(connection, run) is None:
            raise NotFound(f"run {run} is not registered", run=run)
        return await periods.list_frames(connection, run, after=after, limit=limit)
