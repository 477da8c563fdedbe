"""Benchmark of the policy of Sluice beside the watchdog, in simulated time.

It covers several loads and numbers of pilots, with the same items for both.
"""

import importlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from rich.table import Table

from bench.result import BenchResult
from sluice.clientkit.output import err, out
from sluice.contracts.jobs.simulation import PolicyName

SIMULATOR = "wms.simulation.entry"
LOADS, PILOTS = (0.5, 0.8, 0.95, 1.02, 1.13), (2, 4, 16, 64)
#: Means over this number of seeds are assumed to be normally distributed.
NORMAL_QUANTILE = 1.96


@dataclass(frozen=True, slots=True)
class Case:
    """Mean turnaround, one for each seed.

    No policy is below ``lower_bound``. ``without_loading`` is the policy of Sluice if loading
    cost nothing.
    """

    scenario: str
    pilots: int
    load: float
    watchdog: list[float]
    sluice: list[float]
    lower_bound: list[float]
    without_loading: list[float]

    @property
    def change(self) -> tuple[float, float]:
        """Return the relative change against the watchdog and half of its 95 % confidence interval.

        It is computed seed by seed, because both policies have the same items.
        """
        ratios = [our / its - 1 for our, its in zip(self.sluice, self.watchdog, strict=True)]
        return fmean(ratios), NORMAL_QUANTILE * stdev(ratios) / math.sqrt(len(ratios))

    @property
    def least(self) -> float:
        """Return the relative change if the bound were reached."""
        return fmean(self.lower_bound) / fmean(self.watchdog) - 1


def bench_simulate(files: Sequence[Path], seeds: int) -> BenchResult:
    """Simulate all loads and numbers of pilots with each scenario."""
    cases = list(_simulate_cases(files, seeds))
    _show(cases)
    loaded = [case for case in cases if case.load >= 0.8]
    changes = [case.change for case in cases]
    return BenchResult(
        name="simulate",
        value=fmean(case.change[0] for case in loaded) * 100,
        unit="% of the watchdog's mean turnaround, at loads from 0.8 up",
        target="<= -30 % at loads from 0.8 up, none above 0",
        details={
            "cases": len(cases),
            "seeds": seeds,
            "30 % shorter": sum(case.change[0] <= -0.3 for case in loaded),
            "30 % ruled out by the bound": sum(case.least > -0.3 for case in loaded),
            "of loads from 0.8 up": len(loaded),
            "longer, beyond chance": sum(mean - half > 0 for mean, half in changes),
        },
    )


def _simulate_cases(files: Sequence[Path], seeds: int) -> Iterator[Case]:
    simulator = importlib.import_module(SIMULATOR)
    for file in files:
        scenario = simulator.read_scenario(file)
        for pilots in PILOTS:
            for load in LOADS:
                case = Case(scenario.name, pilots, load, [], [], [], [])
                for seed in range(1, seeds + 1):
                    _simulate_policies(
                        simulator,
                        _change_scenario(scenario, pilots=pilots, load=load, seed=seed),
                        case,
                    )
                yield case


def _change_scenario(scenario: Any, *, pilots: int, load: float, seed: int) -> Any:
    changes = {
        "nodes": [scenario.nodes[0].model_copy(update={"count": pilots})],
        "arrivals": [scenario.arrivals[0].model_copy(update={"load": load})],
        "seed": seed,
    }
    return scenario.model_copy(update=changes)


def _simulate_policies(simulator: Any, scenario: Any, case: Case) -> None:
    def turnaround(**changes: object) -> float:
        result = simulator.simulate(scenario.model_copy(update=changes))
        return float(result.passage.mean)

    free = [kind.model_copy(update={"loading": 0.0}) for kind in scenario.kinds]
    case.watchdog.append(turnaround(policy=PolicyName.WATCHDOG))
    case.sluice.append(turnaround(policy=PolicyName.SLUICE))
    case.without_loading.append(turnaround(policy=PolicyName.SLUICE, kinds=free))
    case.lower_bound.append(compute_lower_bound(simulator.list_item_work(scenario), case.pilots))


def compute_lower_bound(items: Sequence[tuple[float, float]], pilots: int) -> float:
    """Return a lower bound of the mean turnaround of any policy.

    ``items`` has the arrival and the work of each item. The bound is the mean work of an item, or
    the mean turnaround on one ideal pilot if that is larger. The ideal pilot is as fast as all
    pilots together and loads nothing. It always works on the item with the least work left, which
    is optimal for one pilot.
    """
    now, total, waiting = 0.0, 0.0, list[tuple[float, float]]()
    for arrival, work in sorted(items):
        now, total = _work_until(arrival, now, total, waiting)
        heappush(waiting, (work / pilots, arrival))
    _, total = _work_until(math.inf, now, total, waiting)
    return max(total / len(items), fmean(work for _, work in items))


def _work_until(
    end: float, now: float, total: float, waiting: list[tuple[float, float]]
) -> tuple[float, float]:
    """Return the new time and the sum of the turnaround times of all finished items."""
    while waiting and now < end:
        work, arrival = heappop(waiting)
        if now + work > end:
            heappush(waiting, (work - (end - now), arrival))
            return end, total
        now += work
        total += now - arrival
    return (now if end == math.inf else max(now, end)), total


def _show(cases: Sequence[Case]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in (
        "scenario", "pilots", "load", "watchdog, s", "ours, s", "change", "95 % within",
        "bound, s", "no loads, s",
    ):  # fmt: skip
        table.add_column(heading, justify="left" if heading == "scenario" else "right")
    for case in cases:
        mean, half = case.change
        figures = (fmean(each) for each in (case.lower_bound, case.without_loading))
        table.add_row(
            case.scenario, str(case.pilots), f"{case.load:g}", f"{fmean(case.watchdog):.0f}",
            f"{fmean(case.sluice):.0f}", f"{mean:+.0%}", f"± {half:.1%}",
            *(f"{figure:.0f}" for figure in figures),
        )  # fmt: skip
    out.print(table)
    err.print("change: of the mean turnaround of an item; the same seeds for both")
