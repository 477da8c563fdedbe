"""Statistics of pilots: how long jobs of a kind of work take on each, and how many fail.

Times are averaged as logarithms, because they vary by factors. The newest times count most, so old
ones fade. An outlier moves the mean no further than a time that is just unlikely.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto

#: Weight of the newest job in an exponential moving average. While there are few jobs, all have the
#: same weight.
SMOOTHING_FACTOR = 0.1
#: A job that exceeds the mean by this number of spreads is unlikely.
UNLIKELY = 4.0
#: Shares of failed attempts above which a pilot is suspect, and is not trusted; and the number of
#: failures below which it is neither.
SUSPECT, UNTRUSTED, FEW_FAILURES = 0.25, 0.5, 3
#: The least spread that is assumed, as a logarithm: an eighth.
_MIN_SPREAD = 0.12
#: Seconds; shorter times count as this long.
_MIN_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class PilotTimes:
    """Statistics of one kind of work on one pilot.

    Attributes:
        jobs: Finished jobs.
        failures: Failed attempts.
        log_seconds: Mean of the natural logarithm of the jobs' seconds.
        spread: Mean distance from ``log_seconds``.
        failing: Share of failed attempts.
        rescued: Attempts whose jobs another pilot finished, of which only a lower bound of the
            time is known.
    """

    jobs: int = 0
    failures: int = 0
    log_seconds: float = 0.0
    spread: float = 0.0
    failing: float = 0.0
    rescued: int = 0

    @property
    def timed(self) -> int:
        """Attempts whose time is known."""
        return self.jobs + self.rescued

    def finished(self, seconds: float) -> "PilotTimes":
        """Return the statistics with a job that took ``seconds``."""
        log_seconds, spread = self._update_mean(seconds)
        failing = self.failing * (1 - self._newest_end)
        return PilotTimes(self.jobs + 1, self.failures, log_seconds, spread, failing, self.rescued)

    def at_least(self, seconds: float) -> "PilotTimes":
        """Return the statistics with an attempt that ran until another one ended the job.

        It is unknown whether it would have succeeded.
        """
        if self.timed and seconds <= self.typical:
            return self
        log_seconds, spread = self._update_mean(seconds)
        return replace(self, log_seconds=log_seconds, spread=spread, rescued=self.rescued + 1)

    def _update_mean(self, seconds: float) -> tuple[float, float]:
        """Return the new mean and spread."""
        log_time = math.log(max(seconds, _MIN_SECONDS))
        weight = max(1 / (self.timed + 1), SMOOTHING_FACTOR)
        deviation = log_time - self.log_seconds if self.timed else 0.0
        if self.timed > 1 / SMOOTHING_FACTOR:
            max_deviation = UNLIKELY * max(self.spread, _MIN_SPREAD)
            deviation = max(-max_deviation, min(deviation, max_deviation))
        log_seconds = self.log_seconds + weight * deviation if self.timed else log_time
        return log_seconds, self.spread + weight * (abs(deviation) - self.spread)

    def failed(self) -> "PilotTimes":
        """Return the statistics with a failed attempt, whose duration says nothing."""
        failing = self.failing + self._newest_end * (1 - self.failing)
        return replace(self, failures=self.failures + 1, failing=failing)

    @property
    def _newest_end(self) -> float:
        """The weight of the next end of an attempt."""
        return max(1 / (self.jobs + self.failures + 1), SMOOTHING_FACTOR)

    @property
    def typical(self) -> float:
        """Seconds that a job typically takes; meaningful only if times are known."""
        return math.exp(self.log_seconds)

    @property
    def likely(self) -> float:
        """Seconds within which a job ends, unless its time is unlikely."""
        return math.exp(self.log_seconds + UNLIKELY * max(self.spread, _MIN_SPREAD))


def combine_times(times_by_pilot: Iterable[PilotTimes]) -> PilotTimes | None:
    """Return the statistics of the kind of work on all pilots, or None if nothing is known."""
    timed = [times for times in times_by_pilot if times.timed]
    weights = [min(times.timed, 1 / SMOOTHING_FACTOR) for times in timed]
    if not timed:
        return None
    total = sum(weights)
    mean = (
        sum(weight * times.log_seconds for weight, times in zip(weights, timed, strict=True))
        / total
    )
    spread = sum(
        weight * (times.spread + abs(times.log_seconds - mean))
        for weight, times in zip(weights, timed, strict=True)
    )
    failing = sum(weight * times.failing for weight, times in zip(weights, timed, strict=True))
    jobs, failures = sum(times.jobs for times in timed), sum(times.failures for times in timed)
    rescued = sum(times.rescued for times in timed)
    return PilotTimes(jobs, failures, mean, spread / total, failing / total, rescued)


class PilotLimit(Enum):
    """How many jobs of a kind of work a pilot gets."""

    FULL = auto()
    SUSPECT = auto()  #: one job at a time
    NONE = auto()  #: one job occasionally, to see whether it still fails


def decide_pilot_limit(own_times: PilotTimes | None, other_times: PilotTimes | None) -> PilotLimit:
    """Return the limit of a pilot whose attempts fail while those of ``other_times`` succeed.

    If attempts fail everywhere, the work is at fault, not the pilot.
    """
    if own_times is None or own_times.failures < FEW_FAILURES or own_times.failing <= SUSPECT:
        return PilotLimit.FULL
    if other_times is None or other_times.failing > SUSPECT:
        return PilotLimit.FULL
    return PilotLimit.NONE if own_times.failing > UNTRUSTED else PilotLimit.SUSPECT
