"""Resources that are counted over all nodes: so many at a time, or so many in a span of time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sluice.contracts.limits import LimitPeriod
from sluice.contracts.numbers import counted, in_full

#: Fractions add up to whole ones, whatever their binary rounding.
_ROUNDED = 1e-6


@dataclass(frozen=True, slots=True)
class HoldingStep:
    """So many jobs of a step hold some of a resource."""

    step: str
    jobs: int


@dataclass(frozen=True, slots=True)
class Limit:
    """``period`` None: ``amount`` at a time, of which attempts that have not ended hold ``used``.
    Else ``amount`` in each period, of which ``used`` is spent until ``refills``."""

    name: str
    amount: float
    used: float = 0.0
    period: LimitPeriod | None = None
    refills: datetime | None = None

    @property
    def left(self) -> float:
        return max(0.0, self.amount - self.used)

    def jobs(self, need: float) -> int:
        """How many that need so much it lets start now."""
        return int((self.left + _ROUNDED) // need)

    def why_none(self, need: float, holders: Sequence["HoldingStep"] = ()) -> str | None:
        """Why a job that needs so much cannot start now; None: it can. ``holders``: those that hold
        most."""
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
        """Why a job that needs so much can never start; None: it can."""
        if need <= self.amount + _ROUNDED:
            return None
        span = "at a time" if self.period is None else f"a {self.period.value}"
        return f"needs {in_full(need)} {self.name}, the limit is {in_full(self.amount)} {span}"


def unspent(named: Mapping[str, float], spent: Mapping[str, float]) -> dict[str, float]:
    """Return what of a reservation was not spent, by name; never more than was reserved.

    What ``spent`` does not name is spent.
    """
    left = {name: need - max(spent[name], 0.0) for name, need in named.items() if name in spent}
    return {name: amount for name, amount in left.items() if amount > 0}


def jobs_within(named: Mapping[str, float], limits: Iterable[Limit]) -> int | None:
    """How many jobs with these needs the limits let start now; None: there is no limit on them."""
    return min(
        (limit.jobs(named[limit.name]) for limit in limits if limit.name in named), default=None
    )
