"""Rank of a task: a higher rank runs earlier.

The rank is computed per task, so that a million waiting jobs cost nothing. The formula of the SPD
Online Filter,

    rank(i+1) = α·aging(i) + β·retries(i) + γ·rank(i)

is applied to what a task has gained over its base. The base is the step's rank (1 unless the
template or an operator says otherwise) and the boost that the WfMS adds for now. The weights are
settings of the WMS:

* α, 0.01 by default, for each minute in which no ready job of the task was leased (at most a
  day's),
* β, 0.1 by default, for each failed attempt per job of the task (a task in trouble is finished
  before a new one is begun),
* γ, 0.9 by default, of the gain so far, so that a gain fades within minutes once the task is
  served.

With the defaults, a task that is never served gains 0.1 rank for each minute it has waited, in the
long run: it overtakes fresh tasks of a rank higher by 1 after about a quarter of an hour.
"""

from dataclasses import dataclass

#: Minutes of waiting beyond which a task gains no more.
AGING_LIMIT = 1440.0


@dataclass(frozen=True, slots=True)
class RankWeights:
    """The weights α, β and γ of the formula. ``gamma`` is below 1, or ranks would grow for ever."""

    alpha: float = 0.01
    beta: float = 0.1
    gamma: float = 0.9

    def next_rank(self, rank: float, base: float, *, aging: float, retries: float) -> float:
        """Return the rank after one step of the formula, for a task whose rank without any gain is
        ``base``."""
        return base + self.alpha * aging + self.beta * retries + self.gamma * (rank - base)


def aging(waited_seconds: float) -> float:
    """Return the minutes for which ready jobs have waited without one being leased."""
    return min(max(waited_seconds, 0.0) / 60.0, AGING_LIMIT)


def retries(failed_attempts: int, total: int) -> float:
    """Return the failed attempts per job."""
    return failed_attempts / total if total else 0.0
