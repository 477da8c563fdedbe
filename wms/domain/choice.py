"""Which jobs are kept for workers that are busy: those that they will have done, all the same,
before the worker that asks.

Jobs are reckoned to be done one after the other at each place of a worker, as by a list of jobs
that the machines share (list scheduling with machines of unequal speed: each job goes where it ends
first). All that is known is what jobs took before.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from wms.domain.second_attempts import is_worth_while

#: Seconds for which a worker that has nothing to do may not have come for a job yet.
_SOON = 5.0


@dataclass(frozen=True, slots=True)
class Busy:
    """A pilot and what it has in hand, in seconds: ``takes`` a job of the kind that is asked for;
    ``running``: what each job that runs takes still; ``waiting``: each that comes after them."""

    pilot: UUID
    takes: float
    running: Sequence[float] = ()
    waiting: Sequence[float] = ()

    def free_after(self) -> list[float]:
        """For each of its places, the seconds until it is free. A pilot that runs nothing has one,
        as far as is known."""
        places = list(self.running) or [0.0]
        heapq.heapify(places)
        for seconds in self.waiting:
            heapq.heapreplace(places, places[0] + seconds)
        return places


@dataclass(frozen=True, slots=True)
class Kept:
    """A job that a busy pilot will have ended; ``sooner``: seconds before the one that asks."""

    pilot: UUID
    sooner: float


def kept_for(asking: float, others: Iterable[Busy], *, ready: int, waited: float) -> list[Kept]:
    """Of so many ``ready`` jobs, those that others will have ended before the worker that asks had
    ended its first; the soonest first. ``asking``: seconds that it takes for one. ``waited``: since
    one of them was given away. Nothing is kept for longer than the worker that asks would have
    taken, nor for one that has nothing to do, and does not come."""
    if waited > asking:
        return []
    places = [
        (free + other.takes, number, other)
        for number, other in enumerate(others)
        for free in other.free_after()
        if free > 0 or waited <= _SOON
    ]
    heapq.heapify(places)
    kept: list[Kept] = []
    while places and len(kept) < ready:
        end, number, other = places[0]
        if not is_worth_while(asking - end, other.takes):
            heapq.heappop(places)
            continue
        kept.append(Kept(other.pilot, asking - end))
        heapq.heapreplace(places, (end + other.takes, number, other))
    return kept
