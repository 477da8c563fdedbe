"""Compilation of append-only outputs and triggers: valid forms, and errors with their places."""

import pytest

from sluice.contracts.common.states import EntryKind
from sluice.contracts.data.append_only import Collect, GrowthTrigger, Trigger
from sluice.contracts.templates.conditions import Equals
from sluice.contracts.templates.plan import Plan, Retention
from sluice.cwl import compile_template
from tests.unit.cwl.plans.triggered_samples import make_data_template, make_values_template

PAGES = "sluice:type: corpus"


def compile_plan(text: str) -> Plan:
    compiled = compile_template(text, name="t")
    assert compiled.plan is not None, compiled.errors
    return compiled.plan


def list_errors(text: str) -> list[str]:
    compiled = compile_template(text, name="t")
    assert compiled.plan is None
    return [str(finding).removeprefix("workflow.cwl:") for finding in compiled.errors]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("every: {files: 10, hours: 24}", Trigger(every=GrowthTrigger(files=10, hours=24))),
        ("every: {hours: 0.5, all: true}", Trigger(every=GrowthTrigger(hours=0.5, all=True))),
        ("schedule: '0  3 * * *'", Trigger(schedule="0 3 * * *")),
        (
            "schedule: 0 3 * * *, zone: Europe/Warsaw",
            Trigger(schedule="0 3 * * *", zone="Europe/Warsaw"),
        ),
    ],
)
def test_trigger_is_separate_from_the_match_conditions(written: str, read: Trigger) -> None:
    plan = compile_plan(make_data_template(f"{{{PAGES}, {written}}}"))
    assert (plan.match, plan.trigger) == ({"type": Equals(value="corpus")}, read)


def test_zone_without_a_schedule_is_a_match_condition() -> None:
    plan = compile_plan(make_data_template("{zone: north}"))
    assert (plan.match, plan.trigger) == ({"zone": Equals(value="north")}, None)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("corpus", Collect(name="corpus", type="corpus")),
        ("{name: corpus}", Collect(name="corpus", type="corpus")),
        ("{name: corpus, sluice:type: pages}", Collect(name="corpus", type="pages")),
    ],
)
def test_collected_output_names_its_append_only_data_set(written: str, read: Collect) -> None:
    plan = compile_plan(make_data_template("{kind: raw}", f"sluice:collect: {written}"))
    assert [output.collect for output in plan.outputs] == [read]


@pytest.mark.parametrize(("output", "spread"), [("sluice:collect: corpus", True), ("", False)])
def test_list_output_is_collected_file_by_file(output: str, spread: bool) -> None:
    """Without sluice:collect, the list is a single value."""
    text = make_data_template("{kind: raw}", output).replace("    scatter: x\n", "")
    text = text.replace("{x: {type: File,", "{x: {type: 'File[]',")
    text = text.replace("{y: stdout}", "{y: {type: 'File[]', outputBinding: {glob: '*'}}}")
    plan = compile_plan(text)
    [written], [plan_output] = plan.step("s").outputs, plan.outputs
    assert (written.spread, plan_output.single) == (spread, not spread)
    assert plan_output.kind is (EntryKind.FILE if spread else EntryKind.BUNDLE)


def test_template_without_data_set_may_have_a_schedule() -> None:
    plan = compile_plan(make_values_template("{schedule: 0 3 * * *}"))
    assert (plan.match, plan.trigger) == ({}, Trigger(schedule="0 3 * * *"))
    assert plan.retention == Retention(input="keep")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            make_data_template("{every: {files: 3}}"),
            "4:16: error: 'sluice:match' does not name the append-only",
        ),
        (
            make_data_template(f"{{{PAGES}, every: 5}}"),
            "4:37: error: 'sluice:match' every: is a mapping",
        ),
        (
            make_data_template(f"{{{PAGES}, every: {{all: true}}}}"),
            "every: requires 'files', 'hours', or both",
        ),
        (
            make_data_template(f"{{{PAGES}, every: {{file: 1}}}}"),
            "has no field 'file'; did you mean 'files'?",
        ),
        (
            make_data_template(f"{{{PAGES}, every: {{files: 0}}}}"),
            "every: files: input should be greater",
        ),
        (
            make_data_template(f"{{{PAGES}, every: {{hours: 0}}}}"),
            "every: hours: input should be greater",
        ),
        (
            make_data_template(f"{{{PAGES}, schedule: daily}}"),
            "4:37: error: 'sluice:match' schedule: has five",
        ),
        (make_data_template(f"{{{PAGES}, schedule: 7}}"), "schedule: is a text, not 7"),
        (make_data_template(f"{{{PAGES}, schedule: 0 25 * * *}}"), "schedule: is wrong: bad hour"),
        (
            make_data_template(f"{{{PAGES}, schedule: 0 3 * * *, zone: Mars}}"),
            "'Mars' is not a time zone",
        ),
        (
            make_data_template(f"{{{PAGES}, schedule: 0 3 * * *, every: {{files: 3}}}}"),
            "takes 'every' or 'schedule', not both",
        ),
        (
            make_data_template("{a: 1}", "sluice:collect: a/b"),
            "9:44: error: 'sluice:collect' 'a/b' has '/'",
        ),
        (
            make_data_template("{a: 1}", "sluice:collect: {nam: a}"),
            "has no field 'nam'; did you mean 'name'?",
        ),
        (
            make_data_template("{a: 1}", "sluice:collect: [a]"),
            "is the name of an append-only data set",
        ),
        (
            make_data_template("{a: 1, sluice:collect: a}").replace(
                "sluice:match", "sluice:collect"
            ),
            "belongs to",
        ),
        (
            make_values_template("{every: {files: 3}}"),
            "has 'every', and no input of the workflow is a data set",
        ),
        (
            make_values_template("{schedule: 0 3 * * *, kind: raw}"),
            "'sluice:match' refers to the data set",
        ),
        (
            make_values_template("{schedule: 0 3 * * *}", "int"),
            "6:3: error: the parameter 'n' has no default",
        ),
    ],
)
def test_wrong_trigger_is_reported_with_its_place(text: str, message: str) -> None:
    assert any(message in error for error in list_errors(text)), list_errors(text)


def test_template_that_collects_into_its_own_input_gives_a_warning() -> None:
    circle = make_data_template(f"{{{PAGES}, every: {{files: 3}}}}", "sluice:collect: corpus")
    compiled = compile_template(circle, name="t")
    assert any("again and again" in str(finding) for finding in compiled.warnings)
    straight = compile_template(make_data_template(f"{{{PAGES}, every: {{files: 3}}}}"), name="t")
    assert not any("again and again" in str(finding) for finding in straight.warnings)
