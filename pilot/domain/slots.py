"""Slots of a pilot: processes that run one job at a time.

A pilot starts with few slots and starts more when there is work for them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from itertools import islice
from uuid import UUID

from pilot.domain.assigned_jobs import AssignedJob
from sluice.contracts.jobs.gpus import Gpu
from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.scheduling.fit import Allocation, find_allocation


@dataclass(slots=True)
class Slot:
    """One slot.

    Attributes:
        ready: Whether the slot takes jobs.
        leaving: Whether it ends because it is not needed.
        queue: The jobs handed over, of which the first runs.
        since: The boot time of its start, or of the end of the last job if it has no jobs.
        started: Its start in UTC.
        warm_worker_allocation: The allocation of an idle warm worker.
        unloading: The boot time at which the warm worker was told to end.
    """

    number: int
    ready: bool = False
    leaving: bool = False
    queue: list[AssignedJob] = field(default_factory=list)
    since: float = 0.0
    started: datetime | None = None
    tasks: set[UUID] = field(default_factory=set)
    warm_worker: WarmWorkerState | None = None
    warm_worker_allocation: Allocation = field(default_factory=Allocation)
    unloading: float | None = None

    def load(self, warm_worker: WarmWorkerState | None, allocation: Allocation) -> None:
        """Set the warm worker of the slot.

        ``allocation`` is the allocation of its last job.
        """
        self.warm_worker, self.unloading = warm_worker, None
        self.warm_worker_allocation = (
            Allocation()
            if warm_worker is None
            else Allocation(ram=allocation.ram, gpus=allocation.gpus)
        )

    def lose(self) -> list[AssignedJob]:
        """Reset the slot after the end of its process and return the jobs that it had."""
        lost, self.queue = self.queue, []
        self.ready, self.started = False, None
        self.tasks.clear()
        self.load(None, Allocation())
        return lost

    @property
    def idle(self) -> bool:
        """Return whether the slot can take a job now."""
        return self.ready and not self.queue and self.unloading is None

    @property
    def allocation(self) -> Allocation:
        """Return the allocation of the slot.

        It is enough for each queued job, as the second job starts right after the first without
        asking the pilot.
        """
        return reduce(Allocation.maximum, [job.allocation for job in self.queue] or [Allocation()])

    def stop_deadline(self, limit: float) -> float | None:
        """Return the boot time by which a stopped job or an unloading warm worker must have ended.

        It is ``limit`` seconds after the stop, or after the start of the job if that is later.

        Returns:
            None if there was no stop or the slot is being ended.
        """
        if not self.ready:
            return None
        stopped = self.queue[0].stopped_at if self.queue else self.unloading
        return None if stopped is None else max(stopped, self.since) + limit

    def fit_job(
        self, assigned_job: AssignedJob, free: Allocation, devices: Mapping[str, Gpu]
    ) -> Allocation | None:
        """Return the allocation of a job in this slot, or None if it does not fit.

        ``free`` is the free capacity of the node without the allocation of this slot.
        """
        if not self.queue:
            return find_allocation(free, assigned_job.request, devices)
        return find_allocation(free + self.allocation, assigned_job.request, devices)


class Slots:
    """Slots by number, from 0 to ``max_slots`` - 1.

    A lost slot keeps its number, and a slot that was released frees it. ``min_slots`` slots run
    from the start and stay.
    """

    def __init__(self, max_slots: int, min_slots: int) -> None:
        self.max_slots = max_slots
        self.min_slots = min(min_slots, max_slots)
        self._by_number: dict[int, Slot] = {}

    def __iter__(self) -> Iterator[Slot]:
        return iter(self._by_number.values())

    def __len__(self) -> int:
        return len(self._by_number)

    def __getitem__(self, number: int) -> Slot:
        return self._by_number[number]

    @property
    def busy(self) -> list[Slot]:
        """Return the slots that have jobs."""
        return [slot for slot in self if slot.queue]

    @property
    def idle(self) -> list[Slot]:
        """Return the slots that can take a job now."""
        return [slot for slot in self if slot.idle]

    @property
    def warm_worker_allocation(self) -> Allocation:
        """Return the allocation of all idle warm workers."""
        return sum((slot.warm_worker_allocation for slot in self if not slot.queue), Allocation())

    @property
    def starting(self) -> int:
        """Return how many slots are starting."""
        return sum(not slot.ready and not slot.leaving and not slot.queue for slot in self)

    @property
    def startable(self) -> int:
        """Return how many more slots may start."""
        return self.max_slots - len(self)

    def start(self, number: int) -> list[Slot]:
        """Add up to ``number`` slots, as far as the maximum allows, and return them."""
        unused = (number for number in range(self.max_slots) if number not in self._by_number)
        started = [Slot(free) for free in islice(unused, max(0, number))]
        if started:
            slots = {**self._by_number, **{slot.number: slot for slot in started}}
            self._by_number = dict(sorted(slots.items()))
        return started

    def make_ready(self, number: int, boot_time: float) -> None:
        """Mark a slot as ready for jobs."""
        slot = self[number]
        slot.ready, slot.since = True, boot_time

    def remove(self, number: int) -> None:
        """Remove a slot."""
        self._by_number.pop(number, None)

    def unused(self) -> list[Slot]:
        """Return the slots that may leave, the one that has been idle the longest first.

        They have neither a job nor a warm worker. At least ``min_slots`` slots stay.
        """
        staying = [slot for slot in self if not slot.leaving]
        unused = (slot for slot in staying if slot.idle and slot.warm_worker is None)
        idle = sorted(unused, key=lambda slot: slot.since)
        return idle[: max(0, len(staying) - self.min_slots)]
