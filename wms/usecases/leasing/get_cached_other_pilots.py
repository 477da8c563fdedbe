"""Get the pilots that do the same kind of work, from a cache."""

from sluice.servicekit.database import Connection
from wms.db.pilots.pilot_times import WorkKind
from wms.domain.scheduling.matching import Demand
from wms.usecases.context import WmsContext
from wms.usecases.leasing.other_pilots import OtherPilots, get_other_pilots


async def get_cached_other_pilots(
    context: WmsContext, connection: Connection, demand: Demand
) -> OtherPilots:
    """Return the pilots of the demand's kind of work, from a cache of recent results."""
    work = WorkKind(demand.template, demand.step)
    return await context.other_pilots.get(work, lambda: get_other_pilots(connection, work))
