"""Times of steps."""

from datetime import UTC, datetime

from sluice.contracts.jobs.times import Spread, StepTimes

BEGIN = datetime(2026, 5, 1, tzinfo=UTC)


def spread(mean: float, p90: float) -> Spread:
    return Spread(count=9, total=9 * mean, mean=mean, deviation=1.0, least=0.0, median=mean,
                  p90=p90, p99=p90, most=p90)  # fmt: skip


def make_step_times(name: str, waiting: float, working: float) -> StepTimes:
    both = {"waiting": spread(waiting, 2 * waiting), "working": spread(working, working)}
    return StepTimes(step=name, tasks=1, finished=9, open=0, **both, passage=both["waiting"])
