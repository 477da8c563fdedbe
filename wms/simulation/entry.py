"""Entry points of the command: read and simulate a scenario."""

from array import array
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from random import Random
from statistics import fmean, pstdev

import yaml
from pydantic import ValidationError

from sluice.contracts.common.wording import validation_sentence
from sluice.contracts.jobs.simulation import KindTimes, SimulationResult
from sluice.contracts.jobs.times import Spread
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted
from wms.domain.placement.policies import create_policy
from wms.simulation.arrival_queue import ArrivalQueue
from wms.simulation.build import (
    build_arrivals,
    build_nodes,
    build_works,
    count_items,
    list_joining_times,
    list_upstream_pipelines,
)
from wms.simulation.engine import Simulation
from wms.simulation.errors import InvalidScenario
from wms.simulation.files import Files, Row
from wms.simulation.scenario import Scenario
from wms.simulation.timeline import TimelineRecorder
from wms.simulation.world import Work


def read_scenario(file: Path) -> Scenario:
    """Read a scenario.

    Raises:
        InvalidScenario: The file cannot be read, or the scenario is invalid.
    """
    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidScenario(f"{file}: cannot be read: {reason_of(error)}") from error
    except yaml.YAMLError as error:
        raise InvalidScenario(f"{file}: is not YAML: {reason_of(error)}") from error
    if not isinstance(document, dict):
        raise InvalidScenario(f"{file}: a scenario is a mapping, not {quoted(document)}")
    try:
        return Scenario.model_validate(document)
    except ValidationError as error:
        faults = [
            f"{file}: {'.'.join(map(str, fault['loc'])) or 'the whole'}:"
            f" {validation_sentence(fault)}"
            for fault in error.errors()
        ]
        raise InvalidScenario("\n".join(faults)) from error


def simulate(
    scenario: Scenario,
    *,
    folder: Path = Path(),
    tables: Mapping[str, Sequence[Row]] | None = None,
    with_timeline: bool = False,
) -> SimulationResult:
    """Simulate a scenario.

    ``folder`` has the files of arrivals, ``tables`` the tables that are not in a file, by name.

    Raises:
        InvalidScenario: A file of arrivals is invalid, or no node can run a kind.
    """
    files = Files(folder, tables)
    works = build_works(scenario)
    nodes = build_nodes(scenario, _create_random(scenario, "nodes"))
    record = TimelineRecorder() if with_timeline else None
    engine = Simulation(
        create_policy(scenario.policy),
        works,
        nodes,
        arrival_queue=ArrivalQueue(
            build_arrivals(scenario, _create_random(scenario, "pages"), files),
            list_upstream_pipelines(scenario),
            count_items(scenario, files),
        ),
        random=_create_random(scenario, "jitter"),
        until=scenario.until,
        recorder=record,
    )
    for number, time in enumerate(list_joining_times(scenario)):
        engine.join(number, time)
    engine.run()
    slots = sum(len(node.slots) for node in nodes) * (engine.now or 1.0)
    names = [kind.name for kind in scenario.kinds]
    return SimulationResult(
        scenario=scenario.name,
        policy=scenario.policy,
        seed=scenario.seed,
        end=engine.now,
        pages=engine.items,
        finished=engine.finished,
        kinds=[_build_kind_times(work) for work in works],
        waiting=summarise_times(engine.waiting),
        working=summarise_times(engine.working),
        passage=summarise_times(engine.turnaround),
        busy=engine.busy / slots,
        loading=engine.loading / slots,
        timeline=None if record is None else record.timeline(names, nodes, engine.now),
    )


def list_item_work(scenario: Scenario, *, folder: Path = Path()) -> list[tuple[float, float]]:
    """Return when each item arrives, and how much work it is on a node of speed 1."""
    arrivals = build_arrivals(scenario, _create_random(scenario, "pages"), Files(folder))
    return [(item.born, sum(item.times)) for _, items in arrivals for item in items]


def _create_random(scenario: Scenario, what: str) -> Random:
    """Return a random generator for one purpose.

    With one for each purpose, items arrive and take the same times whatever a policy does.
    """
    return Random(f"{scenario.seed} {what}")  # noqa: S311 - no secret


def _build_kind_times(work: Work) -> KindTimes:
    return KindTimes(
        kind=work.kind.name,
        jobs=len(work.working),
        open=len(work.queue),
        loads=work.loads,
        lost=work.lost,
        waiting=summarise_times(work.waiting),
        working=summarise_times(work.working),
    )


def summarise_times(seconds: "array[float] | Sequence[float]") -> Spread | None:
    """Return the statistics of times, or None if there are none."""
    if not seconds:
        return None
    ordered, count = sorted(seconds), len(seconds)
    quantiles = [ordered[max(ceil(share * count) - 1, 0)] for share in (0.5, 0.9, 0.99)]
    mean = fmean(ordered)
    return Spread(
        count=count,
        total=sum(ordered),
        mean=mean,
        deviation=pstdev(ordered, mean),
        least=ordered[0],
        median=quantiles[0],
        p90=quantiles[1],
        p99=quantiles[2],
        most=ordered[-1],
    )
