"""Tasks, nodes and started jobs of a simulated system."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from pilot.domain.core import PilotCore
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.pilots.leases import LeasedJob
from sluice.contracts.pilots.nodes import NodeResources
from sluice.scheduling.fit import Allocation, NodeCapacity
from wms.domain.scheduling.limits import Limit
from wms.domain.scheduling.matching import Demand

EPOCH = datetime(2030, 1, 1, 22, tzinfo=UTC)


@dataclass
class SimulatedTask:
    """A task with a number of equal jobs."""

    name: str
    needs: Needs
    seconds: float
    rank: float
    created_at: float
    ready: int
    uid: UUID
    aging_rank: float = 0.0
    reserved_pilot: UUID | None = None
    reserved_until: float = 0.0
    last_lease: float | None = None
    finished_jobs: int = 0
    #: MiB of GPU memory that its jobs really use.
    uses_gpu: int = 0
    failure_reasons: list[str] = field(default_factory=list)

    def demand(self, time: float, limits: dict[str, Limit]) -> Demand:
        waited = time - (self.created_at if self.last_lease is None else self.last_lease)
        return Demand(
            self.uid,
            self.rank + self.aging_rank,
            EPOCH + timedelta(seconds=self.created_at),
            self.ready,
            self.needs,
            waited=waited,
            reserved_pilot=self.reserved_pilot if time < self.reserved_until else None,
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
    is_alive: bool = True
    queues: dict[int, list[tuple[LeasedJob, Allocation]]] = field(default_factory=dict)

    def running_allocation(self) -> Allocation:
        total = Allocation()
        for queue in self.queues.values():
            if queue:
                total += queue[0][1]
        return total


@dataclass(frozen=True)
class StartedJob:
    """A started job; ``gpus`` are identifiers of devices."""

    time: float
    task: str
    node: str
    gpus: tuple[str, ...] = ()
