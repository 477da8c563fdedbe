"""Leave jobs for busy workers that will finish them before the worker that asks."""

from dataclasses import dataclass

from sluice.servicekit.database import Connection
from wms.db.pilots.worker_times import Worker, WorkKind
from wms.domain.scheduling.matching import Demand
from wms.usecases.context import WmsContext
from wms.usecases.leasing.other_workers import OtherWorkers, find_other_workers

#: If more jobs than this are ready, there are enough for all workers.
_FEW = 1000


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice for one pilot that asks."""

    context: WmsContext
    connection: Connection
    worker: Worker

    async def most(self, demand: Demand, *, wanted: int) -> int:
        """Return how many of the ready jobs that the pilot could start it gets now."""
        if demand.ready > _FEW:
            return wanted
        others = await other_workers_of(self.context, self.connection, demand)
        if not others.quick:
            return wanted
        kept = others.kept_from(self.worker, demand)
        return min(wanted, demand.ready - len(kept))


async def other_workers_of(
    context: WmsContext, connection: Connection, demand: Demand
) -> OtherWorkers:
    """Return the workers of the demand's kind of work, from a cache of recent results."""
    work = WorkKind(demand.template, demand.step)
    return await context.other_workers.get(work, lambda: find_other_workers(connection, work))
