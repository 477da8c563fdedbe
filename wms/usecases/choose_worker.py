"""Keeps jobs for workers that, though they are busy, will have done them before the one that
asks."""

from dataclasses import dataclass

from sluice.servicekit.database import Connection
from wms.db.worker_times import Worker, WorkKind
from wms.domain.matching import Demand
from wms.usecases.context import WmsContext
from wms.usecases.rivals import Rivals, look_for_rivals

#: Where more jobs than this are ready, there is enough for everyone.
_FEW = 1000


@dataclass(frozen=True, slots=True)
class Choice:
    """For one pilot that asks."""

    context: WmsContext
    connection: Connection
    worker: Worker

    async def most(self, demand: Demand, *, wanted: int) -> int:
        """Of the ready jobs that the pilot could begin, how many it is given now."""
        if demand.ready > _FEW:
            return wanted
        rivals = await rivals_of(self.context, self.connection, demand)
        if not rivals.quick:
            return wanted
        kept = rivals.kept_from(self.worker, demand)
        return min(wanted, demand.ready - len(kept))


async def rivals_of(context: WmsContext, connection: Connection, demand: Demand) -> Rivals:
    """Those of its kind of work, as they were a moment ago."""
    work = WorkKind(demand.template, demand.step)
    return await context.rivals.get(work, lambda: look_for_rivals(connection, work))
