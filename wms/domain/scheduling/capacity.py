"""How many jobs of which tasks a pilot gets at once.

A pilot never gets more than its free capacity holds, and small jobs do not delay a big job for
ever.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from uuid import UUID

from sluice.contracts.pilots.leases import LeaseRequest
from sluice.contracts.pilots.nodes import NodeResources
from sluice.scheduling.fit import (
    Allocation,
    NodeCapacity,
    count_fitting,
    find_allocation,
    is_suitable,
    list_fitting,
)
from wms.domain.scheduling.matching import Demand, sort_demands

#: Seconds without a lease of a task after which a pilot is reserved for it, and how long the
#: reservation lasts at most.
RESERVATION_DELAY_SECONDS = 30.0
RESERVATION_DURATION = timedelta(seconds=300)
#: MiB: more than any node has.
_UNLIMITED = 2**40


class PilotCapacity:
    """The free capacity of a pilot that requests jobs.

    It is what the pilot reports, but never more than its node has. A pilot that reports nothing
    gets as many jobs as it asks for.
    """

    def __init__(self, request: LeaseRequest, node: NodeResources) -> None:
        ahead = (
            0 if request.free_capacity is None else min(request.free_capacity.ahead, request.jobs)
        )
        self._starts, self._ahead = request.jobs - ahead, ahead
        self._node = node
        self._gpus = {gpu.uuid: gpu for gpu in node.known_gpus}
        self._free = self._soon_free = None
        if request.free_capacity is not None:
            capacity = NodeCapacity.of(
                node.cores, node.ram, self._gpus.values(), disk=node.disk, named=node.named
            ).amounts
            self._free = capacity.minimum(Allocation.of(request.free_capacity.free))
            self._soon_free = capacity.minimum(Allocation.of(request.free_capacity.soon))

    @property
    def jobs(self) -> int:
        """Number of jobs that it may still get."""
        return self._starts + self._ahead

    def count_offered_jobs(self, demand: Demand) -> int:
        """Return how many jobs of the task it may get now.

        These are the jobs that fit together into the free capacity, plus jobs to run later. Each of
        the latter jobs must fit alone into what is free soon. A task whose jobs use a limited
        resource gets no jobs to run later: a waiting job must not hold a resource that is counted
        over all nodes.
        """
        allowed = demand.allowed
        maximum = demand.ready if allowed is None else min(demand.ready, allowed)
        if self._free is None or self._soon_free is None:
            return min(self.jobs, maximum)
        request = demand.resource_request(self._node)
        starts = count_fitting(self._free, request, self._gpus, maximum=min(self._starts, maximum))
        if (
            not self._ahead
            or allowed is not None
            or find_allocation(self._soon_free, request, self._gpus) is None
        ):
            return starts
        return min(starts + self._ahead, maximum)

    def select_demands(self, demands: Sequence[Demand], pilot: UUID) -> list[Demand]:
        """Leave out tasks of which no job fits now or soon and for which the pilot is not reserved.

        The free capacity only shrinks, so these tasks need not be looked at again.
        """
        if self._free is None or self._soon_free is None:
            return list(demands)
        kinds = [demand.resource_request(self._node) for demand in demands]
        fits = set(list_fitting(self._free, kinds, self._gpus) if self._starts else ())
        fits.update(list_fitting(self._soon_free, kinds, self._gpus) if self._ahead else ())
        return [
            demand
            for place, demand in enumerate(demands)
            if place in fits or is_reserved_for(demand, pilot) is not False
        ]

    @property
    def largest_free_ram(self) -> int | None:
        """MiB that a single job may need; None if unknown."""
        if self._free is None or self._soon_free is None:
            return None
        return int(
            max(self._free.ram if self._starts else 0, self._soon_free.ram if self._ahead else 0)
        )

    def largest_free_gpu(self, demand: Demand) -> int:
        """Return the MiB of GPU memory that a single job of the task may need."""
        gpus = demand.gpus
        if gpus is None:
            return _UNLIMITED
        if self._free is None or self._soon_free is None:
            amounts = [NodeCapacity.of(0, 0, self._gpus.values()).amounts]
        else:
            amounts = [self._free] * bool(self._starts) + [self._soon_free] * bool(self._ahead)
        free_memory = (
            (self._gpus[uuid].memory and part.memory) or _UNLIMITED
            for free in amounts
            for uuid, part in free.gpus.items()
            if uuid in self._gpus
            and is_suitable(self._gpus[uuid], gpus)
            and (gpus.share < 1 or part.share >= 1)
        )
        return int(max(free_memory, default=0))

    @property
    def can_start(self) -> bool:
        """Whether it has a place for a job that starts at once."""
        return self._starts > 0

    def can_start_job(self, demand: Demand) -> bool:
        """Return whether a job of the task fits into what is free now."""
        if self._free is None or not self.can_start:
            return self.can_start
        return (
            find_allocation(self._free, demand.resource_request(self._node), self._gpus) is not None
        )

    def take(self, demand: Demand, ram: int | None, gpu_memory: int | None = None) -> None:
        """Count a job of the task that the pilot got.

        The job needs this much memory; None means the task's request.
        """
        if self._free is None:
            self._starts -= 1
            return
        allocation = (
            find_allocation(
                self._free, demand.resource_request(self._node, ram, gpu_memory), self._gpus
            )
            if self._starts
            else None
        )
        if allocation is not None:
            self._free -= allocation
            self._starts -= 1
        elif self._ahead:
            self._ahead -= 1
        else:
            self._starts -= 1


def find_scarce_resources(demand: Demand) -> set[str]:
    """Return the limited resources of which too little is left for a job of the task.

    Quotas are left out, because they refill automatically.
    """
    return {
        name
        for name, limit in demand.limits.items()
        if limit.period is None and not limit.jobs(demand.needs.named[name])
    }


def list_eligible_demands(demands: Iterable[Demand]) -> list[Demand]:
    """Return the demands by rank, without those that would take what a reservation needs.

    If a pilot is reserved for a task whose limited resource is scarce, later tasks that need the
    same resource are left out. So jobs that need little of it do not delay one that needs much for
    ever.
    """
    scarce, eligible = set[str](), []
    for demand in sort_demands(demands):
        if scarce.isdisjoint(demand.needs.named):
            eligible.append(demand)
        if demand.reserved_pilot is not None:
            scarce |= find_scarce_resources(demand)
    return eligible


def is_reserved_for(demand: Demand, pilot: UUID) -> bool | None:
    """Return whether the pilot is reserved for the task, so that later tasks get nothing from it.

    Returns:
        True if it is reserved; False if it is not and need not be; None if the task has waited long
            enough for a reservation.
    """
    if demand.reserved_pilot is not None:
        return demand.reserved_pilot == pilot
    return None if demand.waited > RESERVATION_DELAY_SECONDS else False
