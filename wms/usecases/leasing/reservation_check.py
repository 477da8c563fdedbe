"""Leave jobs for busy pilots that will finish them before the requesting pilot."""

from dataclasses import dataclass

from sluice.servicekit.database import Connection
from wms.db.pilots.pilot_times import PilotIdentity
from wms.domain.scheduling.matching import Demand
from wms.usecases.context import WmsContext
from wms.usecases.leasing.get_cached_other_pilots import get_cached_other_pilots

#: If more jobs than this are ready, there are enough for all pilots.
_MANY_JOBS = 1000


@dataclass(frozen=True, slots=True)
class ReservationCheck:
    """Limits the jobs of the requesting pilot by the reservations for other pilots."""

    context: WmsContext
    connection: Connection
    identity: PilotIdentity

    async def limit_jobs(self, demand: Demand, *, requested_jobs: int) -> int:
        """Return how many of the ready jobs that the pilot could start it gets now."""
        if demand.ready > _MANY_JOBS:
            return requested_jobs
        others = await get_cached_other_pilots(self.context, self.connection, demand)
        if not others.quick:
            return requested_jobs
        reservations = others.list_reservations(self.identity, demand)
        return min(requested_jobs, demand.ready - len(reservations))
