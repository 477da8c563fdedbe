"""A small scenario in simulated time, and results of it."""

from typing import Any

from sluice.contracts.jobs.simulation import SimulationResult
from wms.simulation.scenario import Scenario


def make_scenario(**changes: Any) -> Scenario:
    """Return a scenario: stages of 10 and 5 s, one node, and an item every 100 s."""
    fields: dict[str, Any] = {
        "name": "small",
        "kinds": [
            {"name": "a", "difference": {"fixed": 10}, "loading": 3},
            {"name": "b", "difference": {"fixed": 5}, "loading": 2},
        ],
        "pipelines": [{"name": "p", "stages": ["a", "b"]}],
        "arrivals": [{"pipeline": "p", "every": 100, "count": 3}],
        "nodes": [{"name": "n"}],
    }
    return Scenario.model_validate(fields | changes)


def find_kind(result: SimulationResult, name: str) -> Any:
    return next(each for each in result.kinds if each.kind == name)
