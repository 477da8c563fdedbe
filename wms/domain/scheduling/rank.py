"""Rank of a task: a higher rank runs earlier.

The rank is computed per task, so the number of waiting jobs does not matter. The formula of the SPD
Online Filter,

    rank(i+1) = α·aging(i) + β·retries(i) + γ·rank(i)

is applied to what a task has gained over its base. The base is the step's rank (1 unless the
template or an operator sets another) plus the current boost of the WfMS. The weights are settings
of the WMS:

- α, 0.01 by default, for each minute, at most a day, in which no ready job of the task was leased.
- β, 0.1 by default, for each failed attempt per job of the task. So a task in trouble is finished
  before a new one begins.
- γ, 0.9 by default, of the gain so far. So a gain fades within minutes once the task is served.

With the defaults, a task that is never served gains 0.1 rank per minute in the long run. It
overtakes fresh tasks whose rank is higher by 1 after about a quarter of an hour.
"""

from dataclasses import dataclass

#: Minutes of waiting after which a task gains no more.
AGING_LIMIT = 1440.0


@dataclass(frozen=True, slots=True)
class RankWeights:
    """The weights α, β and γ of the formula.

    Attributes:
        gamma: A number below 1. Otherwise ranks would grow forever.
    """

    alpha: float = 0.01
    beta: float = 0.1
    gamma: float = 0.9

    def next_rank(self, rank: float, base: float, *, aging: float, retries: float) -> float:
        """Return the rank after one step of the formula; ``base`` is the rank without any gain."""
        return base + self.alpha * aging + self.beta * retries + self.gamma * (rank - base)


def aging(waited_seconds: float) -> float:
    """Return the minutes for which ready jobs have waited without a lease."""
    return min(max(waited_seconds, 0.0) / 60.0, AGING_LIMIT)


def retries(failed_attempts: int, total: int) -> float:
    """Return the failed attempts per job."""
    return failed_attempts / total if total else 0.0
