"""The workflow of the pack, and its tools."""

from pathlib import Path

import pytest

from sluice.contracts.states import TaskMode
from sluice.cwl import compile_file

PACK = Path(__file__).parents[3] / "templates" / "masstimes"


def test_the_workflow_is_a_template_whose_steps_go_parish_by_parish() -> None:
    compiled, _ = compile_file(PACK / "extract.cwl", name="extract")
    assert compiled.findings == []
    assert compiled.plan is not None
    assert {step.name: step.mode for step in compiled.plan.steps} == dict.fromkeys(
        ("text", "filter", "hours", "rules"), TaskMode.MAP
    )


def test_answers_become_a_model_and_a_table() -> None:
    compiled, _ = compile_file(PACK / "train.cwl", name="train")
    assert compiled.findings == []
    assert compiled.plan is not None
    assert {step.name: step.mode for step in compiled.plan.steps} == {
        "train": TaskMode.MERGE,
        "classify": TaskMode.MAP,
        "table": TaskMode.MERGE,
    }


def test_searches_for_sites_are_counted_against_the_quota_of_the_api() -> None:
    compiled, _ = compile_file(PACK / "sites.cwl", name="sites")
    assert compiled.findings == []
    assert compiled.plan is not None
    [step] = compiled.plan.steps
    assert step.needs.named == {"places": 20}
    assert {port: secret.name for port, secret in step.needs.secrets.items()} == {
        "key": "places-api"
    }


@pytest.mark.parametrize("tool", sorted((PACK / "tools").glob("*.cwl")), ids=lambda path: path.stem)
def test_each_tool_calls_the_program_of_its_name(tool: Path) -> None:
    text = tool.read_text()
    assert f"baseCommand: {tool.stem}\n" in text
    assert f"id: {tool.stem.replace('-', '_')}\n" in text
