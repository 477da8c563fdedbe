"""How many jobs to hold: enough that short ones never wait for a round trip, so few that long ones
are left to others."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrefetchPolicy:
    """``horizon``: seconds of work to have at hand. ``most_per_slot``: jobs waiting per slot at the
    most; ``most_a_lease``: asked for at once. ``short``: seconds below which the next job is handed
    to a slot while it still works. ``return_after``: seconds after which jobs that wait behind
    longer ones than expected are given back. ``grace``: seconds that a tool that is told to stop
    has before it is killed; ``patience``: that its slot has after that, before it is killed too.
    ``keep_idle``: seconds after which a slot that had no job may end. ``margin_share``: of a lease,
    kept as a margin of ``shortest_margin`` to ``longest_margin`` seconds."""

    horizon: float = 0.75
    most_per_slot: int = 64
    short: float = 0.2
    return_after: float = 5.0
    grace: float = 5.0
    patience: float = 30.0
    keep_idle: float = 300.0
    margin_share: float = 0.15
    shortest_margin: float = 0.2
    longest_margin: float = 6.0
    most_tasks: int = 32
    most_a_lease: int = 1024

    @property
    def stop_limit(self) -> float:
        """Seconds after which a job that was told to stop is gone, or else its slot is ended."""
        return self.grace + self.patience

    def margin(self, lease: float) -> float:
        """Seconds before the end of a lease at which a job is stopped: its process has to be gone
        by then."""
        margin = max(lease * self.margin_share, self.shortest_margin)
        return min(margin, self.longest_margin, lease / 2)


@dataclass(slots=True)
class Pace:
    """Mean seconds a job takes, the latest counting most; None before the first."""

    mean: float | None = None
    weight: float = 0.2

    def add(self, seconds: float) -> None:
        self.mean = (
            seconds if self.mean is None else self.mean + self.weight * (seconds - self.mean)
        )

    def expected(self, running_for: float) -> float | None:
        """Seconds the next job is expected to take; one that has been running longer than the mean
        raises it."""
        if self.mean is None:
            return None
        return max(self.mean, running_for)


def spare_jobs(policy: PrefetchPolicy, *, slots: int, expected: float | None) -> int:
    """Jobs to have waiting besides those that run in so many ``slots``: ``horizon`` seconds of
    work, none where jobs last longer than that."""
    if expected is None or expected >= policy.horizon:
        return 0
    return min(slots * policy.most_per_slot, round(slots * policy.horizon / max(expected, 1e-6)))
