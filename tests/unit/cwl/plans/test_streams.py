"""Bundles in data sets: directories, lists, values, and files with secondary files."""

from pathlib import Path

import pytest

from sluice.contracts.common.states import EntryKind, InputMode, TaskMode
from sluice.contracts.templates.plan import DataEntries, Plan, SecondaryFile
from sluice.cwl import compile_template
from tests.unit.cwl.samples import LINEAR, edit_text

TEMPLATES = Path(__file__).parents[3] / "differential" / "templates"

FILE, BUNDLE = EntryKind.FILE, EntryKind.BUNDLE


def compile_plan(text: str) -> Plan:
    compiled = compile_template(text, name="t")
    assert compiled.plan is not None, "\n".join(map(str, compiled.findings))
    return compiled.plan


def compile_plan_of_file(name: str) -> Plan:
    return compile_plan((TEMPLATES / f"{name}.cwl").read_text())


def list_kinds(plan: Plan) -> dict[str, tuple[EntryKind, list[EntryKind]]]:
    return {
        step.name: (step.main_input.kind, [output.kind for output in step.outputs])
        for step in plan.steps
    }


def test_outputs_that_are_directories_are_bundles() -> None:
    plan = compile_plan_of_file("directories")
    assert list_kinds(plan) == {
        "split": (FILE, [BUNDLE]),
        "grow": (BUNDLE, [BUNDLE]),
        "gather": (BUNDLE, [BUNDLE]),
        "list": (BUNDLE, [FILE]),
    }
    assert [(side.mode, side.kind) for side in plan.step("list").inputs[1:]] == [
        (InputMode.ONE, BUNDLE)
    ]
    assert [(output.kind, output.single) for output in plan.outputs] == [
        (BUNDLE, False),
        (BUNDLE, True),
        (FILE, True),
    ]


def test_scattered_list_is_spread_and_other_lists_are_values() -> None:
    plan = compile_plan_of_file("lists")
    assert [(o.kind, o.spread) for o in plan.step("cut").outputs] == [(FILE, True)]
    assert [(o.kind, o.spread) for o in plan.step("halve").outputs] == [(BUNDLE, False)]
    modes = {step.name: (step.mode, step.main_input.kind) for step in plan.steps}
    assert modes["number"] == (TaskMode.MAP, FILE)
    assert modes["join"] == (TaskMode.MAP, BUNDLE), "each job takes a list"
    assert modes["whole"] == (TaskMode.MERGE, BUNDLE)
    assert modes["again"] == (
        TaskMode.MERGE,
        FILE,
    ), "a step that does not scatter takes the spread list whole"
    assert {output.name: output.single for output in plan.outputs}["lines"] is False


def test_list_output_is_one_value_unless_a_step_scatters_over_it() -> None:
    text = edit_text(
        ("joined: stdout", "joined: {type: 'File[]', outputBinding: {glob: '*'}}"),
        ("    type: File\n    out", "    type: File[]\n    out"),
    )
    join = compile_plan(text).step("join")
    assert [(output.kind, output.spread) for output in join.outputs] == [(BUNDLE, False)]


def test_files_with_secondary_files_are_bundles_in_all_steps() -> None:
    plan = compile_plan_of_file("secondary")
    assert list_kinds(plan)["index"] == (FILE, [BUNDLE])
    assert [list_kinds(plan)[step] for step in ("look", "count", "shout")] == [(BUNDLE, [FILE])] * 3
    passed_on = """
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, InlineJavascriptRequirement: {}}
inputs: {reads: {type: "File[]", secondaryFiles: [.bai, {pattern: "^.txt", required: false},
  .len?]}}
outputs: {longest: {type: File, outputSource: choose/one}, again: {type: "File[]",
  outputSource: same/out}}
steps:
  choose:
    in: {reads: reads}
    out: [one]
    run: {class: ExpressionTool, inputs: {reads: "File[]"}, outputs: {one: File},
      expression: "${return {one: inputs.reads[0]};}"}
  same:
    scatter: read
    in: {read: reads}
    out: [out]
    run:
      class: CommandLineTool
      baseCommand: "true"
      inputs: {read: File}
      outputs: {out: {type: File, outputBinding: {outputEval: $(inputs.read)}}}
"""
    plan = compile_plan(passed_on)
    assert list_kinds(plan) == {"choose": (BUNDLE, [BUNDLE]), "same": (BUNDLE, [BUNDLE])}
    assert plan.data_entries == DataEntries(
        secondary_files=[
            SecondaryFile(pattern=".bai"),
            SecondaryFile(pattern="^.txt", required=False),
            SecondaryFile(pattern=".len", required=False),
        ]
    )


def test_outputs_that_are_values_are_bundles() -> None:
    plan = compile_plan_of_file("values")
    assert list_kinds(plan) == {
        "count": (FILE, [BUNDLE]),
        "add": (BUNDLE, [BUNDLE, BUNDLE]),
        "double": (BUNDLE, [FILE]),
        "describe": (FILE, [BUNDLE]),
        "share": (BUNDLE, [FILE]),
        "spell": (BUNDLE, [BUNDLE]),
    }
    assert [(output.port, output.spread) for output in plan.step("add").outputs] == [
        ("total", False),
        ("words", True),
    ]
    assert [(side.port, side.mode) for side in plan.step("double").inputs[1:]] == [
        ("total", InputMode.ONE)
    ]


def test_directories_can_be_the_data_set() -> None:
    text = edit_text(
        ("frames: File[]", "frames: Directory[]"),
        ("frame: {type: File,", "frame: {type: Directory,"),
    )
    plan = compile_plan(text)
    assert (plan.data_entries, plan.step("count").main_input.kind) == (
        DataEntries(type="Directory"),
        BUNDLE,
    )
    assert compile_plan(LINEAR).data_entries == DataEntries()


def test_tool_with_input_any_is_wrapped_in_a_workflow() -> None:
    join = compile_plan(edit_text(("parts: File[]", "parts: Any"))).step("join")
    assert (join.mode, join.main_input.kind, join.tool["class"]) == (
        TaskMode.MERGE,
        FILE,
        "Workflow",
    )
    assert join.tool["inputs"]["parts"] == {"type": {"type": "array", "items": "File"}}


@pytest.mark.parametrize("edit", [("all:\n    type: File\n", "all:\n    type: int\n")])
def test_misfit_of_value_types_is_refused(edit: tuple[str, str]) -> None:
    compiled = compile_template(edit_text(edit), name="t")
    assert [error.message for error in compiled.errors] == [
        "output 'all' takes int, and 'join/joined' is File"
    ]


def test_list_of_a_grouped_merge_cannot_be_scattered() -> None:
    text = edit_text(
        ("joined: stdout", "joined: {type: 'File[]', outputBinding: {glob: '*'}}"),
        (
            "    type: File\n    outputSource: join/joined",
            "    type: File[]\n    outputSource: again/said",
        ),
    )
    text += """\
  again:
    scatter: part
    in: {part: join/joined}
    out: [said]
    run: {class: CommandLineTool, baseCommand: cat, inputs: {part: {type: File, inputBinding: {}}},
      outputs: {said: stdout}}
"""
    compiled = compile_template(text, name="t")
    [error] = compiled.errors
    assert (
        "there is one for each group of step 'join': leave 'sluice:merge' of 'join' out"
        in error.message
    )
    assert error.line == len(text[: text.index("{part: join")].splitlines())
    assert (
        compile_plan(text.replace("    sluice:merge: {files: 10}\n", ""))
        .step("join")
        .outputs[0]
        .spread
    )


def test_step_has_an_input_for_each_source_of_a_value_that_its_jobs_join() -> None:
    plan = compile_plan_of_file("joined-links")
    ports = {step.name: [(port.port, port.mode) for port in step.inputs] for step in plan.steps}
    whole, one = InputMode.ALL, InputMode.ONE
    assert ports["flat"] == [("value_1", whole), ("value_2", one)]
    assert plan.step("flat").arguments.keys() == {"value_3"}
    assert ports["nested"] == [("value_1", whole), ("value_2", whole), ("value_3", one)]
    inner = plan.step("nested").tool["steps"]["run"]["in"]["value"]
    assert inner == {"source": ["value_1", "value_2", "value_3"], "linkMerge": "merge_nested"}
    inner = plan.step("defaulted").tool["steps"]["run"]["in"]["value"]
    assert inner == {"source": "value_1", "default": "none"}
