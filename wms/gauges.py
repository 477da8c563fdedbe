"""The gauges of the WMS."""

from sluice.servicekit.database import Database
from sluice.servicekit.gauges import Measurement, Rows
from wms.db.gauges import MEASUREMENTS
from wms.usecases.context import WmsContext
from wms.usecases.tasks.list_unschedulable import list_unschedulable


def declare_gauges(context: WmsContext) -> list[Measurement]:
    """Return the declarations of the gauges."""

    async def count_unschedulable(_: Database) -> Rows:
        return [((await list_unschedulable(context, limit=0)).number,)]

    return [
        *MEASUREMENTS,
        Measurement(
            "sluice_tasks_unschedulable",
            "Tasks with ready jobs that fit no node that is present or can be launched.",
            count_unschedulable,
        ),
    ]
