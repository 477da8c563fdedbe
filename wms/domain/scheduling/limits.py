"""Resources that are counted over all nodes: an amount at a time, or in a period."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sluice.contracts.common.numbers import format_count, in_full
from sluice.contracts.jobs.limits import LimitPeriod
from sluice.scheduling.fit import Misfit

#: Tolerance for the binary rounding of fractions.
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class UsingStep:
    """The number of jobs of a step that use some of a resource."""

    step: str
    jobs: int


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit or quota of a resource.

    Attributes:
        amount: The amount that jobs may use at the same time, or in each period.
        used: The amount that live attempts use, or that was spent in this period.
        period: The period of a quota. None for a limit.
        refills: When a quota is full again.
    """

    name: str
    amount: float
    used: float = 0.0
    period: LimitPeriod | None = None
    refills: datetime | None = None

    @property
    def remaining(self) -> float:
        """The amount that is left now."""
        return max(0.0, self.amount - self.used)

    def jobs(self, need: float) -> int:
        """Return how many jobs that need this amount may start now."""
        return int((self.remaining + _TOLERANCE) // need)

    def explain_shortage(self, need: float, holders: Sequence["UsingStep"] = ()) -> str | None:
        """Return why a job that needs this amount cannot start now, or None if it can.

        ``holders`` are the steps that use most.
        """
        if self.jobs(need):
            return None
        used_text = f"{in_full(round(self.used, 6))} of {in_full(self.amount)} {self.name}"
        if self.period is None:
            steps_text = " and ".join(
                f"{format_count(step.jobs, 'job')} of step {step.step}" for step in holders
            )
            need_text = "" if need == 1 else f", and a job needs {in_full(need)}"
            return f"{used_text} are in use{steps_text and f' by {steps_text}'}{need_text}"
        refill_text = (
            "" if self.refills is None else f", and more come at {self.refills:%F %H:%M} UTC"
        )
        return f"{used_text} of this {self.period.value} are used up{refill_text}"

    def find_excess(self, need: float) -> Misfit | None:
        """Return why a job that needs this amount can never start, or None if it can."""
        if need <= self.amount + _TOLERANCE:
            return None
        span = "at a time" if self.period is None else f"a {self.period.value}"
        return Misfit(
            f"needs {in_full(need)} {self.name}", f"the limit is {in_full(self.amount)} {span}"
        )


def compute_unspent(
    reserved_amounts: Mapping[str, float], spent_amounts: Mapping[str, float]
) -> dict[str, float]:
    """Return the unspent part of a reservation by name, never more than was reserved.

    Resources that ``spent_amounts`` does not name count as spent.
    """
    remaining = {
        name: need - max(spent_amounts[name], 0.0)
        for name, need in reserved_amounts.items()
        if name in spent_amounts
    }
    return {name: amount for name, amount in remaining.items() if amount > 0}


def count_startable_jobs(needs: Mapping[str, float], limits: Iterable[Limit]) -> int | None:
    """Return how many jobs with these needs may start now, or None if no limit applies."""
    return min(
        (limit.jobs(needs[limit.name]) for limit in limits if limit.name in needs), default=None
    )
