"""The loop that closes complete data sets."""

from collections.abc import Callable

from dms.usecases.close_dataset import BATCH, close_complete
from sluice.servicekit.database import Database
from sluice.servicekit.loop import Loop
from sluice.servicekit.metrics import ServiceMetrics


def closer(
    database: Database, *, period: float, metrics: ServiceMetrics, on_closed: Callable[[], None]
) -> Loop:
    """Create the loop; ``on_closed`` is called after each commit that closed data sets."""

    async def tick() -> bool:
        closed = await close_complete(database)
        if closed:
            on_closed()
        return closed == BATCH

    return Loop("dms.closer", tick, period=period, metrics=metrics)
