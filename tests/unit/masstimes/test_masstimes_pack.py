"""The workflow of the pack, and its tools."""

from pathlib import Path

import pytest

from sluice.contracts.append_only import GrowthTrigger, Trigger
from sluice.contracts.plan import Plan
from sluice.contracts.states import EntryKind, TaskMode
from sluice.cwl import compile_file

PACK = Path(__file__).parents[3] / "templates" / "masstimes"


def test_the_workflow_is_a_template_whose_steps_go_parish_by_parish() -> None:
    compiled, _ = compile_file(PACK / "extract.cwl", name="extract")
    assert compiled.findings == []
    assert compiled.plan is not None
    assert {step.name: step.mode for step in compiled.plan.steps} == dict.fromkeys(
        ("text", "filter", "hours", "rules"), TaskMode.MAP
    )


def plan_of(name: str) -> Plan:
    compiled, _ = compile_file(PACK / f"{name}.cwl", name=name)
    assert compiled.findings == []
    assert compiled.plan is not None
    return compiled.plan


def test_what_is_crawled_is_collected_item_by_item_and_goes_on_after_a_kill() -> None:
    plan = plan_of("crawl")
    [(into, kind)] = [(one.collect, one.kind) for one in plan.outputs if one.collect is not None]
    assert (into.name, kind) == ("mt-items", EntryKind.FILE)
    assert [output.spread for output in plan.step("items").outputs] == [True]
    assert plan.step("crawl").needs.checkpoint is not None


def test_people_are_asked_as_items_grow_and_the_model_learns_as_answers_do() -> None:
    annotate, train = plan_of("annotate"), plan_of("train")
    assert annotate.due == Trigger(every=GrowthTrigger(files=100, hours=24))
    ask = annotate.step("ask").needs.ask
    assert ask is not None
    assert (ask.link, ask.agree, ask.gold) == (30, 2, "gold")
    for text in (ask.instructions, ask.help):
        assert "\n" not in text, "the page breaks lines as they fit"
    assert (ask.language, ask.labels) == ("pl", {"yes": "Tak", "no": "Nie"})
    [into] = [output.collect.name for output in annotate.outputs if output.collect is not None]
    assert into == "mt-answers"
    assert train.due == Trigger(every=GrowthTrigger(files=1000, all=True))
    assert train.data_input == "answers"
    assert {step.name: step.mode for step in train.steps} == {
        "answers": TaskMode.MERGE,
        "train": TaskMode.MERGE,
        "join": TaskMode.MAP,
        "classify": TaskMode.MAP,
        "table": TaskMode.MERGE,
    }


def test_searches_for_sites_are_counted_against_the_quota_of_the_api() -> None:
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
