"""Our policy: a place that has nothing to do chooses for itself, by what it would earn in a second.

A kind whose jobs take m seconds, with ``after`` seconds of work left of a page behind it, is worth
``1 / √(m + after)``: a later stage goes before an earlier one (depth first), and short work before
long. A place that loads it does its share of the jobs that wait there, a *run* of
``ready·m / (places that serve it + 1)`` seconds, and loses L seconds: by loading, and by loading
again what it leaves. It earns

    (priority + 1) · worth · run / (run + L + 3·R)        R = 2·√(L·B)

B is all work that waits, in all stages that are left to it, per place. R is the least run that is
worth a change: a load costs all who wait, the more the longer the queues, and short runs load
often. As with lots in a store room it goes with the root of both.

* A place whose kind has jobs leaves it only for what is worth more, and for a run of R at least.
* A place whose kind has none goes where it earns most, at once: it has nothing to lose. A job for
  which a place is on its way is nobody else's.
* What nobody serves while its oldest job has waited three times as long as all the work takes
  goes before all.

The rate of reward over a run with its set-ups is the idea of Duenyas and Van Oyen (Heuristic
Scheduling of Parallel Heterogeneous Queues with Set-Ups, Management Science 42(6), 1996, 814-829);
for stages in tandem see Duenyas, Gupta and Olsen (Control of a Single-Server Tandem Queueing System
with Setups, Operations Research 46(2), 1998, 218-230). Both are about one server. The root of the
worth, what several places share, R and B are ours, found by simulation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wms.domain.placement import Kind, Move, Place

#: R over √(L·B), and how often it counts in what is earned.
LEAST_RUN, CAUTION = 2.0, 3.0
#: How much longer than all work takes a job may wait unserved.
PATIENCE = 3.0
#: A job's time where none has ended yet, and the least that is believed.
UNKNOWN, BRIEFEST = 1.0, 1e-6


@dataclass(frozen=True, slots=True)
class RewardRate:
    """Asked when a place has nothing to do; a decision costs one look at each kind."""

    every: float | None = None
    weighs_priority: bool = False

    def next_kind(self, kinds: Sequence[Kind], place: Place, now: float) -> int | None:
        loaded = place.loaded
        here = None if loaded is None else kinds[loaded]
        again = here is not None and here.ready > 0 and here.is_on
        own = worth(here) if here is not None and again else 0.0
        back = here.loading if here is not None else 0.0
        backlog = work_that_waits(kinds)
        best, most = loaded if again else None, 0.0
        for number in place.suits:
            kind = kinds[number]
            waiting = kind.ready - kind.coming
            if number == loaded or waiting <= 0 or not kind.is_on:
                continue
            if is_neglected(kind, backlog, now):
                return number
            lost = kind.loading + back
            least = LEAST_RUN * math.sqrt(lost * backlog)
            run = job_time(kind) * waiting / (kind.serving + 1)
            if again and (run < least or worth(kind) <= own):
                continue
            rate = worth(kind) * run / (run + lost + CAUTION * least)
            if rate > most:
                best, most = number, rate
        return best

    def moves(self, kinds: Sequence[Kind], places: Sequence[Place], now: float) -> list[Move]:
        """None: places choose for themselves."""
        return []


def job_time(kind: Kind) -> float:
    """Of one job, in seconds."""
    return max(kind.mean or UNKNOWN, BRIEFEST)


def worth(kind: Kind) -> float:
    """Of a second of its work, by priority."""
    return (kind.priority + 1) / math.sqrt(job_time(kind) + kind.after)


def work_that_waits(kinds: Sequence[Kind]) -> float:
    """Seconds for which each place would have to work until all has passed that waits."""
    work = sum(kind.ready * (job_time(kind) + kind.after) for kind in kinds if kind.is_on)
    return work / max(sum(kind.serving for kind in kinds), 1)


def is_neglected(kind: Kind, backlog: float, now: float) -> bool:
    """Others would keep it waiting for ever."""
    if kind.serving or kind.since is None:
        return False
    return now - kind.since > PATIENCE * (backlog + kind.loading)
