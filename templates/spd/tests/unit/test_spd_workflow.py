"""The workflow agrees with the programs that it calls."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from spd import build_events, filter_events

pytestmark = pytest.mark.xdist_group("spd-workflow")

PACK = Path(__file__).parents[2]
WORKFLOW = PACK / "workflow.cwl"


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    document: dict[str, Any] = YAML(typ="safe").load(WORKFLOW.read_text())
    return document


def test_defaults_of_the_workflow_equal_those_of_the_programs(workflow: dict[str, Any]) -> None:
    defaults = {
        name: one["default"] for name, one in workflow["inputs"].items() if "default" in one
    }
    assert defaults == {
        "time_gap_ns": build_events.DEFAULT_TIME_GAP_NS,
        "min_hits": build_events.DEFAULT_MIN_HITS,
        "min_multiplicity": filter_events.DEFAULT_MIN_MULTIPLICITY,
        "min_calorimeter_energy": filter_events.DEFAULT_MIN_CALORIMETER_ENERGY,
    }


def test_each_tool_is_an_installed_program(workflow: dict[str, Any]) -> None:
    scripts = tomllib.loads((PACK / "pyproject.toml").read_text())["project"]["scripts"]
    tools = {step["run"]["baseCommand"] for step in workflow["steps"].values()}
    assert tools - scripts.keys() == set()


def test_workflow_uses_no_javascript() -> None:
    text = WORKFLOW.read_text()
    assert "InlineJavascriptRequirement" not in text
    assert "${" not in text
