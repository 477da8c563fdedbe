"""Which jobs are left for busy pilots that will finish them before the requesting pilot.

The estimate is list scheduling on machines of unequal speed: the places of each pilot do one job
after another, and each job goes where it ends first. It knows only how long earlier jobs took.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from wms.domain.scheduling.duplicate_attempts import is_worth_while

#: Seconds after which an idle pilot that has not asked for jobs is no longer expected to.
_MAX_IDLE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class BusyPilot:
    """A pilot and its current work, in seconds.

    Attributes:
        job_seconds: Time that it takes for a job of the kind in question.
        running: Remaining time of each running job.
        waiting: Time of each job that waits behind them.
    """

    pilot: UUID
    job_seconds: float
    running: Sequence[float] = ()
    waiting: Sequence[float] = ()

    def seconds_until_free(self) -> list[float]:
        """Return for each of its places the seconds until it is free.

        A pilot that runs nothing counts as one place.
        """
        slots = list(self.running) or [0.0]
        heapq.heapify(slots)
        for seconds in self.waiting:
            heapq.heapreplace(slots, slots[0] + seconds)
        return slots


@dataclass(frozen=True, slots=True)
class JobReservation:
    """A job that a busy pilot will end before the requesting pilot.

    Attributes:
        pilot: The busy pilot.
        seconds_earlier: How much earlier it will end the job.
    """

    pilot: UUID
    seconds_earlier: float


def find_reservations(
    own_seconds: float, other_pilots: Iterable[BusyPilot], *, ready: int, waited_seconds: float
) -> list[JobReservation]:
    """Return the jobs that others will end before the requesting pilot, soonest first.

    No job is left for others longer than the requesting pilot would take, nor for an idle pilot
    that does not ask.

    Args:
        own_seconds: Seconds that the requesting pilot takes for one job.
        other_pilots: The other pilots.
        ready: Number of ready jobs, the most that are left for others.
        waited_seconds: Seconds since a job of the task was leased.
    """
    if waited_seconds > own_seconds:
        return []
    slots = [
        (free + other.job_seconds, number, other)
        for number, other in enumerate(other_pilots)
        for free in other.seconds_until_free()
        if free > 0 or waited_seconds <= _MAX_IDLE_SECONDS
    ]
    heapq.heapify(slots)
    reservations: list[JobReservation] = []
    while slots and len(reservations) < ready:
        end, number, other = slots[0]
        if not is_worth_while(own_seconds - end, other.job_seconds):
            heapq.heappop(slots)
            continue
        reservations.append(JobReservation(other.pilot, own_seconds - end))
        heapq.heapreplace(slots, (end + other.job_seconds, number, other))
    return reservations
