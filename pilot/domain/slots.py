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
from sluice.scheduling.fit import Allocation, fit


@dataclass(slots=True)
class Slot:
    """One slot.

    ``queue`` holds the jobs handed over, of which the first runs. ``since`` (tick) and ``started``
    (UTC) are its start. Without jobs, ``since`` is the end of the last job.

    ``ready`` says that the slot takes jobs, ``leaving`` that it ends as it is not needed.
    ``loaded`` is its warm worker, and ``kept`` the allocation of an idle warm worker. ``unloading``
    is the tick at which the warm worker was told to end.
    """

    number: int
    ready: bool = False
    leaving: bool = False
    queue: list[AssignedJob] = field(default_factory=list)
    since: float = 0.0
    started: datetime | None = None
    tasks: set[UUID] = field(default_factory=set)
    loaded: WarmWorkerState | None = None
    kept: Allocation = field(default_factory=Allocation)
    unloading: float | None = None

    def load(self, loaded: WarmWorkerState | None, booked: Allocation) -> None:
        """Set the warm worker of the slot.

        ``booked`` is the allocation of its last job.
        """
        self.loaded, self.unloading = loaded, None
        self.kept = Allocation() if loaded is None else Allocation(ram=booked.ram, gpus=booked.gpus)

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
    def booked(self) -> Allocation:
        """Return the allocation of the slot.

        It is enough for each queued job, as the second job starts right after the first without
        asking the pilot.
        """
        return reduce(Allocation.most, [one.booked for one in self.queue] or [Allocation()])

    def obeys_by(self, patience: float) -> float | None:
        """Return the tick by which a stopped job or an unloading warm worker must have ended.

        It is ``patience`` seconds after the stop, or after the start of the job if that is later.

        Returns:
            None if there was no stop or the slot is being ended.
        """
        if not self.ready:
            return None
        stopped = self.queue[0].stopped if self.queue else self.unloading
        return None if stopped is None else max(stopped, self.since) + patience

    def place_for(
        self, assigned: AssignedJob, free: Allocation, devices: Mapping[str, Gpu]
    ) -> Allocation | None:
        """Return the allocation of a job in this slot, or None if it does not fit.

        ``free`` is the free capacity of the node without the allocation of this slot.
        """
        if not self.queue:
            return fit(free, assigned.wanted, devices)
        return fit(free.plus(self.booked), assigned.wanted, devices)


class Slots:
    """Slots by number, from 0 to ``most`` - 1.

    A lost slot keeps its number, and a slot that has left frees it. ``few`` slots run from the
    start and stay.
    """

    def __init__(self, most: int, few: int) -> None:
        self.most = most
        self.few = min(few, most)
        self._there: dict[int, Slot] = {}

    def __iter__(self) -> Iterator[Slot]:
        return iter(self._there.values())

    def __len__(self) -> int:
        return len(self._there)

    def __getitem__(self, number: int) -> Slot:
        return self._there[number]

    @property
    def busy(self) -> list[Slot]:
        """Return the slots that have jobs."""
        return [slot for slot in self if slot.queue]

    @property
    def idle(self) -> list[Slot]:
        """Return the slots that can take a job now."""
        return [slot for slot in self if slot.idle]

    @property
    def kept(self) -> Allocation:
        """Return the allocation of all idle warm workers."""
        return reduce(Allocation.plus, (slot.kept for slot in self if not slot.queue), Allocation())

    @property
    def coming(self) -> int:
        """Return how many slots are starting."""
        return sum(not slot.ready and not slot.leaving and not slot.queue for slot in self)

    @property
    def startable(self) -> int:
        """Return how many more slots may start."""
        return self.most - len(self)

    def start(self, number: int) -> list[Slot]:
        """Add up to ``number`` slots, as far as the maximum allows, and return them."""
        unused = (number for number in range(self.most) if number not in self._there)
        started = [Slot(one) for one in islice(unused, max(0, number))]
        if started:
            there = {**self._there, **{slot.number: slot for slot in started}}
            self._there = dict(sorted(there.items()))
        return started

    def make_ready(self, number: int, boot_time: float) -> None:
        """Mark a slot as ready for jobs."""
        slot = self[number]
        slot.ready, slot.since = True, boot_time

    def remove(self, number: int) -> None:
        """Remove a slot."""
        self._there.pop(number, None)

    def unused(self) -> list[Slot]:
        """Return the slots that may leave, the one that has been idle the longest first.

        They have neither a job nor a warm worker. At least ``few`` slots stay.
        """
        staying = [slot for slot in self if not slot.leaving]
        unused = (slot for slot in staying if slot.idle and slot.loaded is None)
        idle = sorted(unused, key=lambda slot: slot.since)
        return idle[: max(0, len(staying) - self.few)]
