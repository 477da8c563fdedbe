"""Leave jobs for busy workers that will finish them before the worker that asks."""

from dataclasses import dataclass

from sluice.servicekit.database import Connection
from wms.db.pilots.worker_times import Worker, WorkKind
from wms.domain.scheduling.matching import Demand
from wms.usecases.context import WmsContext
from wms.usecases.leasing.other_workers import OtherWorkers, find_other_workers

#: If more jobs than this are ready, there are enough for all workers.
_MANY_JOBS = 1000


@dataclass(frozen=True, slots=True)
class ReservationCheck:
    """Limits the jobs of one pilot that asks by the reservations for other pilots."""

    context: WmsContext
    connection: Connection
    worker: Worker

    async def limit_jobs(self, demand: Demand, *, requested_jobs: int) -> int:
        """Return how many of the ready jobs that the pilot could start it gets now."""
        if demand.ready > _MANY_JOBS:
            return requested_jobs
        others = await get_other_workers(self.context, self.connection, demand)
        if not others.quick:
            return requested_jobs
        reservations = others.list_reservations(self.worker, demand)
        return min(requested_jobs, demand.ready - len(reservations))


async def get_other_workers(
    context: WmsContext, connection: Connection, demand: Demand
) -> OtherWorkers:
    """Return the workers of the demand's kind of work, from a cache of recent results."""
    work = WorkKind(demand.template, demand.step)
    return await context.other_workers.get(work, lambda: find_other_workers(connection, work))
