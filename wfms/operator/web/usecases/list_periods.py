"""List data-taking periods with their runs."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass

from sluice.contracts.data.runs import Period, Run
from wfms.operator.context import OperatorContext


@dataclass(frozen=True, slots=True)
class PeriodWithRuns:
    """A period and its runs."""

    period: Period
    runs: list[Run]


async def list_periods(context: OperatorContext) -> list[PeriodWithRuns]:
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
