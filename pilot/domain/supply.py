"""How many jobs a pilot asks for, and what it says of its room for them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from pilot.domain.model import Now
from pilot.domain.prefetch import Pace, PrefetchPolicy, spare_jobs
from pilot.domain.slots import Slots
from sluice.contracts.pilots import Room
from sluice.fit import Booked, Offer


@dataclass(frozen=True, slots=True)
class Supply:
    """What a pilot has at one moment. ``waiting``: jobs at hand for which there is no room or no
    slot yet; ``held``: all that it has."""

    node: Offer
    slots: Slots
    policy: PrefetchPolicy
    pace: Pace
    waiting: int
    held: int

    @property
    def free(self) -> Booked:
        """Of the node: what no job that runs takes up."""
        return self._without(slot.booked for slot in self.slots.busy)

    def jobs_wanted(self, now: Now) -> int:
        """How many jobs to ask for now; 0: none. Small refills are put off while there is work for
        all that is free."""
        if not any(slot.ready for slot in self.slots):
            return 0
        starts = self.starts
        busy = sum(slot.ready for slot in self.slots.busy)
        target = starts + busy + self._spare(starts, now)
        want = min(target - self.held, self.policy.most_a_lease)
        return want if want > 0 and (starts > 0 or want >= max(1, target // 3)) else 0

    def room(self, now: Now, wanted: int) -> Room:
        """What so many jobs have to fit in."""
        long = [
            slot.booked for slot in self.slots.busy if now.tick - slot.since > self.policy.horizon
        ]
        return Room(
            free=self.free.amounts(),
            soon=self._without(long).amounts(),
            ahead=max(0, wanted - self.starts),
        )

    @property
    def starts(self) -> int:
        """Jobs that could start at once, if they are small enough: none where a job waits for room,
        or where there is none."""
        if self.waiting or not self.free.has_any:
            return 0
        return len(self.slots.idle) + self.slots.startable

    def _spare(self, starts: int, now: Now) -> int:
        """For the slots in which jobs run, or as many as there are cores, where more could."""
        running = [now.tick - slot.since for slot in self.slots.busy]
        at_once = len(running)
        if starts:
            at_once = max(at_once, int(min(at_once + starts, self.node.amounts.cores)), 1)
        expected = self.pace.expected(max(running, default=0.0))
        return spare_jobs(self.policy, slots=at_once, expected=expected)

    def _without(self, booked: Iterable[Booked]) -> Booked:
        return reduce(Booked.minus, booked, self.node.amounts)
