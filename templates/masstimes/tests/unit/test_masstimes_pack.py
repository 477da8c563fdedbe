"""The workflows and tools of the pack."""

from pathlib import Path

import pytest

from sluice.contracts.common.states import EntryKind, TaskMode
from sluice.contracts.data.append_only import GrowthTrigger, Trigger
from sluice.contracts.templates.plan import Plan
from sluice.cwl import compile_file

PACK = Path(__file__).parents[2]


def test_extraction_steps_run_parish_by_parish() -> None:
    compiled, _ = compile_file(PACK / "extract.cwl", name="extract")
    assert compiled.findings == []
    assert compiled.plan is not None
    assert {step.name: step.mode for step in compiled.plan.steps} == dict.fromkeys(
        ("text", "filter", "hours", "rules"), TaskMode.MAP
    )


def compile_plan(name: str) -> Plan:
    compiled, _ = compile_file(PACK / f"{name}.cwl", name=name)
    assert compiled.findings == []
    assert compiled.plan is not None
    return compiled.plan


def test_crawl_collects_items_and_has_a_checkpoint() -> None:
    plan = compile_plan("crawl")
    [(into, kind)] = [(one.collect, one.kind) for one in plan.outputs if one.collect is not None]
    assert (into.name, kind) == ("mt-items", EntryKind.FILE)
    assert [output.spread for output in plan.step("items").outputs] == [True]
    assert plan.step("crawl").needs.checkpoint is not None


def test_annotation_and_training_are_triggered_by_growth() -> None:
    annotate, train = compile_plan("annotate"), compile_plan("train")
    assert annotate.trigger == Trigger(every=GrowthTrigger(files=100, hours=24))
    ask = annotate.step("ask").needs.ask
    assert ask is not None
    assert (ask.link, ask.agree, ask.gold) == (30, 2, "gold")
    for text in (ask.instructions, ask.help):
        assert "\n" not in text, "the page breaks the lines itself"
    assert (ask.language, ask.labels) == ("pl", {"yes": "Tak", "no": "Nie"})
    [into] = [output.collect.name for output in annotate.outputs if output.collect is not None]
    assert into == "mt-answers"
    assert train.trigger == Trigger(every=GrowthTrigger(files=1000, all=True))
    assert train.data_input == "answers"
    assert {step.name: step.mode for step in train.steps} == {
        "answers": TaskMode.MERGE,
        "train": TaskMode.MERGE,
        "join": TaskMode.MAP,
        "classify": TaskMode.MAP,
        "table": TaskMode.MERGE,
    }


def test_searches_for_sites_use_a_quota_and_a_secret() -> None:
    compiled, _ = compile_file(PACK / "sites.cwl", name="sites")
    assert compiled.findings == []
    assert compiled.plan is not None
    [step] = compiled.plan.steps
    assert step.needs.named == {"places": 24}
    assert {port: secret.name for port, secret in step.needs.secrets.items()} == {
        "key": "places-api"
    }


@pytest.mark.parametrize("tool", sorted((PACK / "tools").glob("*.cwl")), ids=lambda path: path.stem)
def test_each_tool_calls_the_program_of_its_name(tool: Path) -> None:
    text = tool.read_text()
    assert f"baseCommand: {tool.stem}\n" in text
    assert f"id: {tool.stem.replace('-', '_')}\n" in text
