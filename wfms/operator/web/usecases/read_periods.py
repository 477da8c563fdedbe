"""Data-taking periods, their runs and the frames of the runs, for the pages."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass

from sluice.contracts.data.runs import Frame, Period, Run
from wfms.operator.context import OperatorContext


@dataclass(frozen=True, slots=True)
class PeriodWithRuns:
    """A period and its runs."""

    period: Period
    runs: list[Run]


@dataclass(frozen=True, slots=True)
class RunWithFrames:
    """A run and a page of its frames.

    Attributes:
        next: The number after which the next page begins; None on the last page.
    """

    run: Run
    frames: list[Frame]
    next: int | None


async def read_periods(context: OperatorContext) -> list[PeriodWithRuns]:
    """Return all periods with their runs, the one that started last first."""
    periods, runs = await asyncio.gather(context.dms.list_periods(), context.dms.list_runs())
    by_period: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_period[run.period].append(run)
    ordered = sorted(periods, key=lambda each: each.name)
    ordered.sort(
        key=lambda each: each.started_at.timestamp() if each.started_at else 0.0, reverse=True
    )
    return [PeriodWithRuns(period, by_period[period.name]) for period in ordered]


async def read_run(
    context: OperatorContext, number: int, *, after: int, limit: int
) -> RunWithFrames:
    """Return a run and its frames with numbers above ``after``.

    Raises:
        NotFound: The run is not registered.
    """
    run, frames = await asyncio.gather(
        context.dms.get_run(number), context.dms.list_frames(number, after=after, limit=limit + 1)
    )
    more = len(frames) > limit
    frames = frames[:limit]
    return RunWithFrames(run, frames, frames[-1].number if more else None)
