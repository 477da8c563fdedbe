"""Tasks, nodes and started jobs of a simulated world."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from pilot.domain.core import PilotCore
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.pilots.pilots import LeasedJob, NodeResources
from sluice.scheduling.fit import Allocation, NodeCapacity
from wms.domain.scheduling.limits import Limit
from wms.domain.scheduling.matching import Demand

EPOCH = datetime(2030, 1, 1, 22, tzinfo=UTC)


@dataclass
class Work:
    """A task with a number of equal jobs."""

    name: str
    needs: Needs
    seconds: float
    rank: float
    since: float
    ready: int
    uid: UUID
    gained: float = 0.0
    reserved_pilot: UUID | None = None
    reserved_until: float = 0.0
    served: float | None = None
    done: int = 0
    #: MiB of GPU memory that its jobs really use.
    uses_gpu: int = 0
    failed: list[str] = field(default_factory=list)

    def demand(self, tick: float, limits: dict[str, Limit]) -> Demand:
        waited = tick - (self.since if self.served is None else self.served)
        return Demand(
            self.uid,
            self.rank + self.gained,
            EPOCH + timedelta(seconds=self.since),
            self.ready,
            self.needs,
            waited=waited,
            reserved_pilot=self.reserved_pilot if tick < self.reserved_until else None,
            limits={name: limits[name] for name in self.needs.named if name in limits},
        )


@dataclass
class Node:
    """A node; ``queues`` holds the jobs of each slot and their allocations; the first job runs."""

    name: str
    uid: UUID
    resources: NodeResources
    core: PilotCore
    offer: NodeCapacity
    alive: bool = True
    queues: dict[int, list[tuple[LeasedJob, Allocation]]] = field(default_factory=dict)

    def running(self) -> Allocation:
        total = Allocation()
        for queue in self.queues.values():
            if queue:
                total += queue[0][1]
        return total


@dataclass(frozen=True)
class Started:
    """A started job; ``gpus`` are identifiers of devices."""

    tick: float
    work: str
    node: str
    gpus: tuple[str, ...] = ()
