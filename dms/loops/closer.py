"""The loop that closes complete data sets."""

from collections.abc import Callable

from dms.usecases.datasets.close_dataset import BATCH, close_complete
from sluice.servicekit.database import Database
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.loop import Loop


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
