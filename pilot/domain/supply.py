"""Number of jobs that a pilot requests, and the free capacity that it reports for them."""

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from pilot.domain.model import CurrentTime
from pilot.domain.prefetch import MeanDuration, PrefetchPolicy, count_spare_jobs
from pilot.domain.slots import Slots
from sluice.contracts.pilots.leases import FreeCapacity
from sluice.scheduling.fit import Allocation, NodeCapacity


@dataclass(frozen=True, slots=True)
class Supply:
    """State of a pilot at one moment.

    Attributes:
        waiting_jobs: Number of the jobs at hand without capacity or a slot.
        assigned_jobs: Number of all jobs of the pilot.
    """

    node: NodeCapacity
    slots: Slots
    policy: PrefetchPolicy
    pace: MeanDuration
    waiting_jobs: int
    assigned_jobs: int

    @property
    def free(self) -> Allocation:
        """Return the capacity of the node that no running job uses."""
        return self._subtract(slot.allocation for slot in self.slots.busy)

    def count_jobs_to_request(self, now: CurrentTime) -> int:
        """Return how many jobs to request now.

        Small refills are put off while all free capacity has work.
        """
        if not any(slot.ready for slot in self.slots):
            return 0
        starts = self.starts
        busy = sum(slot.ready for slot in self.slots.busy)
        target = starts + busy + self._count_spare_jobs(starts, now)
        missing = min(target - self.assigned_jobs, self.policy.max_per_lease)
        return missing if missing > 0 and (starts > 0 or missing >= max(1, target // 3)) else 0

    def free_capacity(self, now: CurrentTime, requested_count: int) -> FreeCapacity:
        """Return the capacity that the ``requested_count`` jobs must fit in."""
        long_running = [
            slot.allocation
            for slot in self.slots.busy
            if now.boot_time - slot.since > self.policy.horizon
        ]
        return FreeCapacity(
            free=self.free.amounts(),
            soon=self._subtract(long_running).amounts(),
            ahead=max(0, requested_count - self.starts),
        )

    @property
    def starts(self) -> int:
        """Return how many jobs could start at once if they are small enough.

        Returns:
            0 if a job waits for capacity or no capacity is free.
        """
        if self.waiting_jobs or not self.free.has_any:
            return 0
        return len(self.slots.idle) + self.slots.startable

    def _count_spare_jobs(self, starts: int, now: CurrentTime) -> int:
        """Return how many jobs should wait for busy slots.

        Jobs that could start at once count as running, up to the number of cores.
        """
        running = [now.boot_time - slot.since for slot in self.slots.busy]
        at_once = len(running)
        if starts:
            at_once = max(at_once, int(min(at_once + starts, self.node.amounts.cores)), 1)
        expected = self.pace.expected(max(running, default=0.0))
        return count_spare_jobs(self.policy, slots=at_once, expected_seconds=expected)

    def _subtract(self, allocations: Iterable[Allocation]) -> Allocation:
        return reduce(operator.sub, allocations, self.node.amounts)
