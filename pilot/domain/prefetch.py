"""Number of jobs that a pilot holds.

Short jobs must never wait for a round trip to the WMS. Long jobs are left to other pilots.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrefetchPolicy:
    """Limits for the number of jobs at hand and the times of their stops.

    All times are in seconds.

    Attributes:
        horizon: Amount of work to have at hand.
        max_per_slot: Maximum number of waiting jobs per slot.
        short: Mean duration below which a busy slot gets its next job.
        return_after: Time after which waiting jobs are given back.
        grace: Time that a tool has after a stop before it is killed.
        patience: Time that a slot has after ``grace`` before it is killed too.
        keep_idle: Time without a job after which a slot may end.
        margin_share: Share of a lease that is kept as a margin.
        shortest_margin: Minimum of the margin.
        longest_margin: Maximum of the margin.
        max_tasks: Maximum number of known tasks.
        max_per_lease: Maximum number of jobs in one request.
    """

    horizon: float = 0.75
    max_per_slot: int = 64
    short: float = 0.2
    return_after: float = 5.0
    grace: float = 5.0
    patience: float = 30.0
    keep_idle: float = 300.0
    margin_share: float = 0.15
    shortest_margin: float = 0.2
    longest_margin: float = 6.0
    max_tasks: int = 32
    max_per_lease: int = 1024

    @property
    def stop_limit(self) -> float:
        """Return the seconds after which the slot of a stopped job is ended."""
        return self.grace + self.patience

    def margin(self, lease: float) -> float:
        """Return how many seconds before the end of a lease a job is stopped.

        The process of the job has to end within this time.
        """
        margin = max(lease * self.margin_share, self.shortest_margin)
        return min(margin, self.longest_margin, lease / 2)


@dataclass(slots=True)
class MeanDuration:
    """Mean duration of jobs in seconds, as an exponential moving average.

    Attributes:
        mean: The mean, or None before the first job.
    """

    mean: float | None = None
    weight: float = 0.2

    def add(self, seconds: float) -> None:
        """Add the duration of a job."""
        self.mean = (
            seconds if self.mean is None else self.mean + self.weight * (seconds - self.mean)
        )

    def expected(self, running_for: float) -> float | None:
        """Return the expected duration of the next job in seconds, or None if it is not known.

        A job that has run longer than the mean raises the value.
        """
        if self.mean is None:
            return None
        return max(self.mean, running_for)


def count_spare_jobs(policy: PrefetchPolicy, *, slots: int, expected_seconds: float | None) -> int:
    """Return how many jobs should wait besides those that run in ``slots`` slots.

    The waiting jobs are ``horizon`` seconds of work. Longer jobs get none.
    """
    if expected_seconds is None or expected_seconds >= policy.horizon:
        return 0
    return min(
        slots * policy.max_per_slot, round(slots * policy.horizon / max(expected_seconds, 1e-6))
    )
