"""A pilot's slots: each a process that runs one job at a time. There are few at first, and more
once there is work for them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from itertools import islice
from uuid import UUID

from pilot.domain.held_jobs import HeldJob
from sluice.contracts.gpus import Gpu
from sluice.contracts.loaded import LoadedTool
from sluice.fit import Booked, fit


@dataclass(slots=True)
class Slot:
    """``queue``: the jobs handed over; the first one runs, since ``since`` (tick) and ``started``
    (UTC); with none, ``since`` is when it had its last. ``ready``: it takes jobs. ``leaving``: it
    ends, as there is no use for it. ``loaded``: the tool that stays loaded in it; ``kept``: what
    that takes up of the node while there is no job, and until it has gone; ``unloading``: since
    which tick it is told to go."""

    number: int
    ready: bool = False
    leaving: bool = False
    queue: list[HeldJob] = field(default_factory=list)
    since: float = 0.0
    started: datetime | None = None
    tasks: set[UUID] = field(default_factory=set)
    loaded: LoadedTool | None = None
    kept: Booked = field(default_factory=Booked)
    unloading: float | None = None

    def load(self, loaded: LoadedTool | None, booked: Booked) -> None:
        """``booked``: of its last job."""
        self.loaded, self.unloading = loaded, None
        self.kept = Booked() if loaded is None else Booked(ram=booked.ram, gpus=booked.gpus)

    def lose(self) -> list[HeldJob]:
        """Its process has gone: the jobs that it had."""
        lost, self.queue = self.queue, []
        self.ready, self.started = False, None
        self.tasks.clear()
        self.load(None, Booked())
        return lost

    @property
    def idle(self) -> bool:
        return self.ready and not self.queue and self.unloading is None

    @property
    def booked(self) -> Booked:
        """Of the node: the second job begins when the first has ended, before anybody is asked."""
        return reduce(Booked.most, [held.booked for held in self.queue] or [Booked()])

    def obeys_by(self, patience: float) -> float | None:
        """Tick by which its first job, told to stop, is gone, or the tool that is to go:
        ``patience`` seconds after it was told, and could be. None: it was not told, or the slot is
        being ended."""
        if not self.ready:
            return None
        stopped = self.queue[0].stopped if self.queue else self.unloading
        return None if stopped is None else max(stopped, self.since) + patience

    def place_for(self, held: HeldJob, free: Booked, devices: Mapping[str, Gpu]) -> Booked | None:
        """What the job would take here; None: there is no room for it. ``free``: of the node, on
        top of what the slot has."""
        if not self.queue:
            return fit(free, held.wanted, devices)
        return fit(free.plus(self.booked), held.wanted, devices)


class Slots:
    """By number, from 0 to ``most`` - 1: a slot that is lost keeps its number, one that has left
    gives it back. ``few``: as many are there from the start, and stay."""

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
        return [slot for slot in self if slot.queue]

    @property
    def idle(self) -> list[Slot]:
        return [slot for slot in self if slot.idle]

    @property
    def kept(self) -> Booked:
        """What tools that stay loaded take up while there is no job for them."""
        return reduce(Booked.plus, (slot.kept for slot in self if not slot.queue), Booked())

    @property
    def coming(self) -> int:
        """So many start, and will take jobs."""
        return sum(not slot.ready and not slot.leaving and not slot.queue for slot in self)

    @property
    def startable(self) -> int:
        """So many more could be started."""
        return self.most - len(self)

    def start(self, number: int) -> list[Slot]:
        """So many more, as far as there may be."""
        unused = (number for number in range(self.most) if number not in self._there)
        started = [Slot(one) for one in islice(unused, max(0, number))]
        if started:
            there = {**self._there, **{slot.number: slot for slot in started}}
            self._there = dict(sorted(there.items()))
        return started

    def make_ready(self, number: int, tick: float) -> None:
        slot = self[number]
        slot.ready, slot.since = True, tick

    def remove(self, number: int) -> None:
        self._there.pop(number, None)

    def unused(self) -> list[Slot]:
        """Those without a job, and without a tool, that nobody would miss, the one that had its
        last the longest ago first."""
        staying = [slot for slot in self if not slot.leaving]
        unused = (slot for slot in staying if slot.idle and slot.loaded is None)
        idle = sorted(unused, key=lambda slot: slot.since)
        return idle[: max(0, len(staying) - self.few)]
