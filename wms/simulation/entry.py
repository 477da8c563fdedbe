"""Entry points of the command: read and simulate a scenario."""

from array import array
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from random import Random
from statistics import fmean, pstdev

import yaml
from pydantic import ValidationError

from sluice.contracts.common.wording import sentence_of
from sluice.contracts.jobs.simulation import KindTimes, SimulationResult
from sluice.contracts.jobs.times import Spread
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted
from wms.domain.placement.policies import policy_of
from wms.simulation.arrival_queue import ArrivalQueue
from wms.simulation.build import (
    build_arrivals,
    build_nodes,
    build_works,
    joining_times,
    pages_coming,
    waits_of,
)
from wms.simulation.engine import Simulation
from wms.simulation.errors import WrongScenario
from wms.simulation.files import Files, Row
from wms.simulation.picture import Record
from wms.simulation.scenario import Scenario
from wms.simulation.world import Work


def read_scenario(file: Path) -> Scenario:
    """Read a scenario.

    Raises:
        WrongScenario: The file cannot be read, or the scenario is invalid.
    """
    try:
        given = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise WrongScenario(f"{file}: cannot be read: {reason_of(error)}") from error
    except yaml.YAMLError as error:
        raise WrongScenario(f"{file}: is not YAML: {reason_of(error)}") from error
    if not isinstance(given, dict):
        raise WrongScenario(f"{file}: a scenario is a mapping, not {quoted(given)}")
    try:
        return Scenario.model_validate(given)
    except ValidationError as error:
        faults = [
            f"{file}: {'.'.join(map(str, fault['loc'])) or 'the whole'}: {sentence_of(fault)}"
            for fault in error.errors()
        ]
        raise WrongScenario("\n".join(faults)) from error


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
        WrongScenario: A file of arrivals is invalid, or no node can run a kind.
    """
    files = Files(folder, tables)
    works = build_works(scenario)
    nodes = build_nodes(scenario, _random(scenario, "nodes"))
    record = Record() if with_timeline else None
    engine = Simulation(
        policy_of(scenario.policy),
        works,
        nodes,
        coming=ArrivalQueue(
            build_arrivals(scenario, _random(scenario, "pages"), files),
            waits_of(scenario),
            pages_coming(scenario, files),
        ),
        random=_random(scenario, "jitter"),
        until=scenario.until,
        recorder=record,
    )
    for number, time in enumerate(joining_times(scenario)):
        engine.join(number, time)
    engine.run()
    places = sum(len(node.seats) for node in nodes) * (engine.now or 1.0)
    names = [kind.name for kind in scenario.kinds]
    return SimulationResult(
        scenario=scenario.name,
        policy=scenario.policy,
        seed=scenario.seed,
        end=engine.now,
        pages=engine.pages,
        finished=engine.finished,
        kinds=[_times_of(work) for work in works],
        waiting=spread_of(engine.waiting),
        working=spread_of(engine.working),
        passage=spread_of(engine.passage),
        busy=engine.busy / places,
        loading=engine.loading / places,
        timeline=None if record is None else record.timeline(names, nodes, engine.now),
    )


def pages_of(scenario: Scenario, *, folder: Path = Path()) -> list[tuple[float, float]]:
    """Return when each page arrives, and how much work it is on a node of speed 1."""
    arrivals = build_arrivals(scenario, _random(scenario, "pages"), Files(folder))
    return [(page.born, sum(page.times)) for _, pages in arrivals for page in pages]


def _random(scenario: Scenario, what: str) -> Random:
    """Return a random generator for one purpose.

    With one for each purpose, pages arrive and take the same times whatever a policy does.
    """
    return Random(f"{scenario.seed} {what}")  # noqa: S311 - no secret


def _times_of(work: Work) -> KindTimes:
    return KindTimes(
        kind=work.seen.name,
        jobs=len(work.working),
        open=len(work.queue),
        loads=work.loads,
        lost=work.lost,
        waiting=spread_of(work.waiting),
        working=spread_of(work.working),
    )


def spread_of(seconds: "array[float] | Sequence[float]") -> Spread | None:
    """Return the statistics of times, or None if there are none."""
    if not seconds:
        return None
    ordered, count = sorted(seconds), len(seconds)
    at = [ordered[max(ceil(share * count) - 1, 0)] for share in (0.5, 0.9, 0.99)]
    mean = fmean(ordered)
    return Spread(
        count=count,
        total=sum(ordered),
        mean=mean,
        deviation=pstdev(ordered, mean),
        least=ordered[0],
        median=at[0],
        p90=at[1],
        p99=at[2],
        most=ordered[-1],
    )
