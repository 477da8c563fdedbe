"""Resources that are counted over all nodes: an amount at a time, or in a period."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sluice.contracts.common.numbers import counted, in_full
from sluice.contracts.jobs.limits import LimitPeriod

#: Tolerance for the binary rounding of fractions.
_ROUNDED = 1e-6


@dataclass(frozen=True, slots=True)
class UsingStep:
    """The number of jobs of a step that use some of a resource."""

    step: str
    jobs: int


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit or quota of a resource.

    Without ``period`` it is an ``amount`` at a time, of which live attempts use ``used``. With it,
    it is an ``amount`` in each period, of which ``used`` is spent until ``refills``.
    """

    name: str
    amount: float
    used: float = 0.0
    period: LimitPeriod | None = None
    refills: datetime | None = None

    @property
    def left(self) -> float:
        """The amount that is left now."""
        return max(0.0, self.amount - self.used)

    def jobs(self, need: float) -> int:
        """Return how many jobs that need so much may start now."""
        return int((self.left + _ROUNDED) // need)

    def why_none(self, need: float, holders: Sequence["UsingStep"] = ()) -> str | None:
        """Return why a job that needs so much cannot start now, or None if it can.

        ``holders`` are the steps that use most.
        """
        if self.jobs(need):
            return None
        of = f"{in_full(round(self.used, 6))} of {in_full(self.amount)} {self.name}"
        if self.period is None:
            by = " and ".join(f"{counted(one.jobs, 'job')} of step {one.step}" for one in holders)
            asked = "" if need == 1 else f", and a job needs {in_full(need)}"
            return f"{of} are held{by and f' by {by}'}{asked}"
        more = "" if self.refills is None else f", and more come at {self.refills:%F %H:%M} UTC"
        return f"{of} of this {self.period.value} are spent{more}"

    def why_never(self, need: float) -> str | None:
        """Return why a job that needs so much can never start, or None if it can."""
        if need <= self.amount + _ROUNDED:
            return None
        span = "at a time" if self.period is None else f"a {self.period.value}"
        return f"needs {in_full(need)} {self.name}, the limit is {in_full(self.amount)} {span}"


def unspent(named: Mapping[str, float], spent: Mapping[str, float]) -> dict[str, float]:
    """Return what of a reservation was not spent, by name, never more than was reserved.

    Resources that ``spent`` does not name count as spent.
    """
    left = {name: need - max(spent[name], 0.0) for name, need in named.items() if name in spent}
    return {name: amount for name, amount in left.items() if amount > 0}


def jobs_within(named: Mapping[str, float], limits: Iterable[Limit]) -> int | None:
    """Return how many jobs with these needs may start now, or None if no limit applies."""
    return min(
        (limit.jobs(named[limit.name]) for limit in limits if limit.name in named), default=None
    )
