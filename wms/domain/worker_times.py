"""What is known of a worker: how long the jobs of one kind of work take on it, and how many fail.

Times are kept by their logarithm, as they spread by factors. The newest count most, so that what
was long ago fades; a single time that is far off moves the mean no further than one that is just
unlikely.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto

#: The weight of the newest job, once there were some.
NEWEST = 0.1
#: Times the spread: a job that takes longer than the mean by so much is unlikely.
UNLIKELY = 4.0
#: The share of attempts that fail from which on a worker is suspect, and is not trusted; and
#: failures below which it is neither.
SUSPECT, DISTRUSTED, FEW_FAILURES = 0.25, 0.5, 3
#: The least spread of times that is reckoned with, as a logarithm: an eighth.
_LEAST_SPREAD = 0.12
#: Seconds: what is shorter is as long.
_SHORTEST = 0.001


@dataclass(frozen=True, slots=True)
class WorkerTimes:
    """Of one kind of work on one worker. ``jobs``: finished; ``failures``: attempts that failed;
    ``log_seconds``: mean of the natural logarithm of the jobs' seconds, ``spread``: mean distance
    from it; ``failing``: the share of its attempts that fail; ``rescued``: attempts that another
    worker ended, of which the least time is known that they would have taken."""

    jobs: int = 0
    failures: int = 0
    log_seconds: float = 0.0
    spread: float = 0.0
    failing: float = 0.0
    rescued: int = 0

    @property
    def timed(self) -> int:
        """Attempts of which it is known how long they took."""
        return self.jobs + self.rescued

    def finished(self, seconds: float) -> "WorkerTimes":
        """With a job that took so long."""
        log_seconds, spread = self._took(seconds)
        failing = self.failing * (1 - self._newest_end)
        return WorkerTimes(self.jobs + 1, self.failures, log_seconds, spread, failing, self.rescued)

    def at_least(self, seconds: float) -> "WorkerTimes":
        """With an attempt that ran so long when another worker ended its job: nobody knows whether
        it would have."""
        if self.timed and seconds <= self.typical:
            return self
        log_seconds, spread = self._took(seconds)
        return replace(self, log_seconds=log_seconds, spread=spread, rescued=self.rescued + 1)

    def _took(self, seconds: float) -> tuple[float, float]:
        """Mean and spread from then on."""
        found = math.log(max(seconds, _SHORTEST))
        weight = max(1 / (self.timed + 1), NEWEST)
        off = found - self.log_seconds if self.timed else 0.0
        if self.timed > 1 / NEWEST:
            most = UNLIKELY * max(self.spread, _LEAST_SPREAD)
            off = max(-most, min(off, most))
        log_seconds = self.log_seconds + weight * off if self.timed else found
        return log_seconds, self.spread + weight * (abs(off) - self.spread)

    def failed(self) -> "WorkerTimes":
        """With an attempt that failed: how long it took says nothing."""
        failing = self.failing + self._newest_end * (1 - self.failing)
        return replace(self, failures=self.failures + 1, failing=failing)

    @property
    def _newest_end(self) -> float:
        """The weight of the next end of an attempt."""
        return max(1 / (self.jobs + self.failures + 1), NEWEST)

    @property
    def typical(self) -> float:
        """Seconds that a job takes; of use where some are known."""
        return math.exp(self.log_seconds)

    @property
    def likely(self) -> float:
        """Seconds within which a job has ended that takes no unlikely time."""
        return math.exp(self.log_seconds + UNLIKELY * max(self.spread, _LEAST_SPREAD))


def of_all(workers: Iterable[WorkerTimes]) -> WorkerTimes | None:
    """What the kind of work takes anywhere; None: nothing is known."""
    known = [times for times in workers if times.timed]
    weights = [min(times.timed, 1 / NEWEST) for times in known]
    if not known:
        return None
    total = sum(weights)
    mean = sum(w * times.log_seconds for w, times in zip(weights, known, strict=True)) / total
    spread = sum(
        w * (times.spread + abs(times.log_seconds - mean))
        for w, times in zip(weights, known, strict=True)
    )
    failing = sum(w * times.failing for w, times in zip(weights, known, strict=True))
    jobs, failures = sum(t.jobs for t in known), sum(t.failures for t in known)
    rescued = sum(t.rescued for t in known)
    return WorkerTimes(jobs, failures, mean, spread / total, failing / total, rescued)


class Trust(Enum):
    """What a worker is given of a kind of work."""

    FULL = auto()
    SUSPECT = auto()  #: one job at a time
    NONE = auto()  #: one job now and then, to see whether it still fails


def trust(own: WorkerTimes | None, others: WorkerTimes | None) -> Trust:
    """In a worker, as its attempts fail where those of ``others`` succeed; where all fail, it is
    the work."""
    if own is None or own.failures < FEW_FAILURES or own.failing <= SUSPECT:
        return Trust.FULL
    if others is None or others.failing > SUSPECT:
        return Trust.FULL
    return Trust.NONE if own.failing > DISTRUSTED else Trust.SUSPECT
