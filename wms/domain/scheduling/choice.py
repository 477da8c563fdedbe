"""Which jobs are left for busy workers that will finish them before the worker that asks.

The estimate is list scheduling on machines of unequal speed: the places of each worker do one job
after another, and each job goes where it ends first. It knows only how long earlier jobs took.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from wms.domain.scheduling.duplicate_attempts import is_worth_while

#: Seconds after which an idle worker that has not asked for jobs is no longer expected to.
_SOON = 5.0


@dataclass(frozen=True, slots=True)
class BusyPilot:
    """A pilot and its current work, in seconds.

    Attributes:
        takes: Time that it takes for a job of the kind in question.
        running: Remaining time of each running job.
        waiting: Time of each job that waits behind them.
    """

    pilot: UUID
    takes: float
    running: Sequence[float] = ()
    waiting: Sequence[float] = ()

    def free_after(self) -> list[float]:
        """Return for each of its places the seconds until it is free.

        A pilot that runs nothing counts as one place.
        """
        places = list(self.running) or [0.0]
        heapq.heapify(places)
        for seconds in self.waiting:
            heapq.heapreplace(places, places[0] + seconds)
        return places


@dataclass(frozen=True, slots=True)
class JobReservation:
    """A job that a busy pilot will end ``sooner`` seconds before the pilot that asks."""

    pilot: UUID
    sooner: float


def reserved_for(
    asking: float, others: Iterable[BusyPilot], *, ready: int, waited: float
) -> list[JobReservation]:
    """Return the jobs that others will end before the worker that asks, soonest first.

    No job is left for others longer than the worker that asks would take, nor for an idle worker
    that does not ask.

    Args:
        asking: Seconds that the worker that asks takes for one job.
        others: The other pilots.
        ready: Number of ready jobs, the most that are left for others.
        waited: Seconds since a job of the task was leased.
    """
    if waited > asking:
        return []
    places = [
        (free + other.takes, number, other)
        for number, other in enumerate(others)
        for free in other.free_after()
        if free > 0 or waited <= _SOON
    ]
    heapq.heapify(places)
    kept: list[JobReservation] = []
    while places and len(kept) < ready:
        end, number, other = places[0]
        if not is_worth_while(asking - end, other.takes):
            heapq.heappop(places)
            continue
        kept.append(JobReservation(other.pilot, asking - end))
        heapq.heapreplace(places, (end + other.takes, number, other))
    return kept
