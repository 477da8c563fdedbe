"""Plans of valid templates."""

import json

import pytest

from sluice.contracts.common.states import InputMode, Pick, TaskMode
from sluice.contracts.templates.conditions import Between, Equals, Glob, OneOf
from sluice.contracts.templates.plan import (
    STRIDE,
    Boundary,
    Constant,
    MergeGroups,
    NextSource,
    ParameterRef,
    Plan,
    Retention,
    Retry,
    Source,
    StepInput,
)
from sluice.cwl import compile_template
from tests.unit.cwl.plans.spd_template import SPD
from tests.unit.cwl.samples import GRAPH, LINEAR, compile_plan, edit_text


def test_plan_of_a_map_and_a_merge_step() -> None:
    plan = compile_plan(LINEAR)
    assert (plan.name, plan.doc) == ("t", "Counts and joins.")
    assert (plan.cwl_version, plan.data_input) == ("v1.2", "frames")
    assert plan.match == {"type": Equals(value="raw"), "detector": Equals(value="spd")}
    assert {name: (p.type, p.default, p.required) for name, p in plan.parameters.items()} == {
        "limit": ("int", 5, False),
        "note": ("string", None, False),
    }
    count, join = plan.steps
    assert (count.mode, count.main_input.port, count.main_input.source) == (
        TaskMode.MAP,
        "frame",
        Source(step=None, port="frames"),
    )
    assert count.arguments == {"limit": ParameterRef(name="limit")}
    assert count.boundary == Boundary(minimum=0.9)
    assert count.needs.resources.time_limit == 10
    assert (join.mode, join.main_input.port, join.main_input.source) == (
        TaskMode.MERGE,
        "parts",
        Source(step="count", port="number"),
    )
    assert join.groups == MergeGroups(files=10)
    assert [(output.name, output.step, output.port) for output in plan.outputs] == [
        ("all", "join", "joined")
    ]


def test_batch_sets_the_number_of_files_of_a_job() -> None:
    plan = compile_plan(edit_text(("sluice:boundary: {minimum: 0.9}", "sluice:batch: {files: 50}")))
    assert [step.batch.files for step in plan.steps] == [50, 1]


def test_steps_read_several_data_sets() -> None:
    _, _, mark, report = compile_plan(GRAPH).steps
    assert (mark.mode, mark.main_input.port, mark.main_input.source) == (
        TaskMode.MAP,
        "before",
        Source(step=None, port="texts"),
    )
    assert mark.inputs[1:] == [
        StepInput(port="total", source=Source(step="total", port="sum"), mode=InputMode.ONE),
        StepInput(port="after", source=Source(step="upper", port="big"), mode=InputMode.EACH),
    ]
    assert (report.mode, report.main_input.port, report.main_input.source) == (
        TaskMode.MERGE,
        "marked",
        Source(step="mark", port="marked"),
    )
    assert [(side.port, side.mode) for side in report.inputs[1:]] == [
        ("texts", InputMode.ALL),
        ("total", InputMode.ONE),
    ]
    assert (mark.arguments, report.arguments) == ({}, {})


def test_step_with_expressions_becomes_a_workflow_inside_its_jobs() -> None:
    requirements = (
        "ScatterFeatureRequirement: {}",
        "StepInputExpressionRequirement: {}",
        "InlineJavascriptRequirement: {}",
    )
    features = (requirements[0], "\n  ".join(requirements))
    count, _ = compile_plan(
        edit_text(
            features,
            (
                "limit: limit",
                "limit: {source: limit, valueFrom: $(self)}\n    when: $(inputs.limit > 3)",
            ),
        )
    ).steps
    assert (count.mode, count.outputs[0].optional) == (TaskMode.MAP, True)
    assert count.arguments == {"limit": ParameterRef(name="limit")}
    assert count.tool["class"] == "Workflow"
    inner = count.tool["steps"]["run"]
    assert inner["when"] == "$(inputs.limit > 3)"
    assert inner["in"] == {
        "frame": {"source": "frame"},
        "limit": {"source": "limit", "valueFrom": "$(self)"},
    }
    assert inner["run"]["class"] == "CommandLineTool"


def test_required_input_determines_the_jobs_of_a_step() -> None:
    plan = compile_plan(edit_text(("before: {type: File,", "before: {type: File?,"), text=GRAPH))
    mark = plan.step("mark")
    assert (mark.main_input.port, mark.main_input.optional) == ("after", False)
    assert [(side.port, side.optional) for side in mark.inputs[1:]] == [
        ("total", False),
        ("before", True),
    ]


def test_each_job_of_a_map_step_may_take_a_whole_data_set() -> None:
    each = ("scatter: [before, after]\n    scatterMethod: dotproduct", "scatter: before")
    plan = compile_plan(
        edit_text(
            each, ("after: {type: File, inputBinding: {position: 2}}", "after: File[]"), text=GRAPH
        )
    )
    mark = plan.step("mark")
    assert (mark.mode, mark.main_input.port) == (TaskMode.MAP, "before")
    assert [(side.port, side.mode) for side in mark.inputs[1:]] == [
        ("total", InputMode.ONE),
        ("after", InputMode.ALL),
    ]


def test_expression_over_a_data_set_gets_the_whole_data_set() -> None:
    """The type of the tool's input does not matter: it takes the value of the expression."""
    edits = (
        (
            "ScatterFeatureRequirement: {}",
            "ScatterFeatureRequirement: {}\n  StepInputExpressionRequirement: {}",
        ),
        ("total: total/sum, b", "total: {source: upper/big, valueFrom: '$(self[0].basename)'}, b"),
        ("total: {type: File,", "total: {type: string,"),
    )
    assert [
        (side.port, side.mode)
        for side in compile_plan(edit_text(*edits, text=GRAPH)).step("mark").inputs[1:]
    ] == [
        ("total", InputMode.ALL),
        ("after", InputMode.EACH),
    ]


def test_file_parameter_is_read_as_a_data_set() -> None:
    edits = (
        ("texts: File[]", "texts: File[]\n  ref: File?"),
        ("total: total/sum, b", "total: ref, b"),
    )
    optional_total = ("total: {type: File,", "total: {type: File?,")
    plan = compile_plan(edit_text(*edits, optional_total, text=GRAPH))
    assert (plan.file_parameters, plan.parameters["ref"].required) == (["ref"], False)
    mark = plan.step("mark")
    side = StepInput(
        port="total", source=Source(step=None, port="ref"), mode=InputMode.ONE, optional=True
    )
    assert (mark.inputs[1:][0], mark.arguments) == (side, {})


def test_files_of_several_sources_are_concatenated() -> None:
    """Numbers of scattered files are shifted by one stride for each further data set."""
    edits = (
        (
            "ScatterFeatureRequirement: {}",
            "{ScatterFeatureRequirement: {}, MultipleInputFeatureRequirement: {}}",
        ),
        (
            "before: texts",
            "before: {source: [texts, total/sum, texts], linkMerge: merge_flattened}",
        ),
        (
            "after: upper/big",
            "after: {source: [upper/big, total/sum, upper/big], linkMerge: merge_flattened}",
        ),
        (
            "marked: mark/marked",
            "marked: {source: [mark/marked, texts], linkMerge: merge_flattened}",
        ),
    )
    plan = compile_plan(edit_text(*edits, text=GRAPH))
    mark, report = plan.step("mark"), plan.step("report")
    texts, big, total = (
        Source(step=None, port="texts"),
        Source(step="upper", port="big"),
        Source(step="total", port="sum"),
    )
    assert mark.main_input.next_sources == [
        NextSource(source=total, start=STRIDE),
        NextSource(source=texts, start=2 * STRIDE),
    ]
    (after,) = [side for side in mark.inputs[1:] if side.port == "after"]
    assert (after.source, [further.start for further in after.next_sources]) == (
        big,
        [STRIDE, 2 * STRIDE],
    )
    assert (report.mode, report.main_input.next_sources) == (
        TaskMode.MERGE,
        [NextSource(source=texts)],
    )
    assert set(mark.sources) == {texts, big, total}


def test_output_with_pick_value_gets_a_step_of_its_own() -> None:
    edits = (
        (
            "ScatterFeatureRequirement: {}",
            "{ScatterFeatureRequirement: {}, MultipleInputFeatureRequirement: {}}",
        ),
        (
            "outputSource: report/page}",
            "outputSource: [report/page, total/sum], pickValue: first_non_null}",
        ),
        ("  both:", "  mark: {type: 'File[]', outputSource: [report/page, total/sum]}\n  both:"),
    )
    plan = compile_plan(edit_text(*edits, text=GRAPH))
    page, each = plan.step("page"), plan.step("mark_")
    assert [(output.name, output.step, output.port) for output in plan.outputs] == [
        ("page", "page", "file"),
        ("mark", "mark_", "file"),
        ("both", "mark", "marked"),
    ]
    assert (page.mode, page.main_input.pick, each.mode, each.main_input.pick) == (
        TaskMode.MAP,
        Pick.FIRST,
        TaskMode.MAP,
        None,
    )
    assert [further.start for further in each.main_input.next_sources] == [STRIDE]


def test_online_filter_template_compiles_without_findings() -> None:
    compiled = compile_template(SPD.read_text(), name="spd")
    assert compiled.plan is not None, compiled.findings
    assert compiled.findings == []
    modes = {step.name: step.mode for step in compiled.plan.steps}
    assert [name for name, mode in modes.items() if mode is TaskMode.MERGE] == [
        "merge",
        "merge_monitoring",
    ]
    assert next(iter(modes)) == "decode"


@pytest.mark.parametrize(
    ("retention_text", "retention"),
    [
        ("", Retention()),
        ("sluice:retention: {logs: keep}\n", Retention(logs="keep")),
        ("sluice:retention: {input: delete}\n", Retention(only_copies=True)),
        ("sluice:retention: {input: keep}\n", Retention(input="keep")),
    ],
)
def test_last_replicas_are_deleted_only_if_the_template_says_delete(
    retention_text: str, retention: Retention
) -> None:
    text = edit_text(("doc: Counts", f"{retention_text}doc: Counts"))
    assert compile_plan(text).retention == retention


def test_extension_fields_are_in_the_plan() -> None:
    text = edit_text(
        (
            "sluice:match: {sluice:type: raw, detector: spd}",
            (
                "sluice:match: {run: [1, 2], energy: {minimum: 1.5}, period: {glob: '2024-*'},"
                " test: false}\nsluice:priority: 7\nsluice:bind: {limit: run}\nsluice:retention:"
                " {input: keep, logs: delete}"
            ),
        ),
        (
            "sluice:boundary: {minimum: 0.9}",
            "sluice:retry: {attempts: 5, backoff: 0.5}\n    sluice:rank: 2",
        ),
        ("{files: 10}", "{bytes: 1000}"),
    )
    plan = compile_plan(text)
    assert plan.match == {
        "run": OneOf(values=[1, 2]),
        "energy": Between(minimum=1.5),
        "period": Glob(pattern="2024-*"),
        "test": Equals(value=False),
    }
    assert (plan.priority, plan.bind, plan.retention) == (
        7,
        {"limit": "run"},
        Retention(input="keep", logs="delete"),
    )
    assert (plan.steps[0].retry, plan.steps[0].rank) == (Retry(attempts=5, backoff=0.5), 2.0)
    assert plan.steps[1].groups == MergeGroups(bytes=1000)
    assert "sluice" not in json.dumps(plan.steps[0].tool)


def test_default_of_a_step_input_is_a_constant_argument() -> None:
    plan = compile_plan(
        edit_text(
            ("      limit: limit", "      limit: {default: 3}"),
            ("  limit:\n    type: int\n    default: 5\n", ""),
        )
    )
    assert plan.steps[0].arguments == {"limit": Constant(value=3)}


def test_default_before_an_expression_may_have_any_type() -> None:
    constant = ("      limit: limit", "      limit: {default: {of: 3}, valueFrom: $(self.of)}")
    template_text = edit_text(
        constant,
        ("  Scatter", "  StepInputExpressionRequirement: {}\n  Scatter"),
        ("  limit:\n    type: int\n    default: 5\n", ""),
    )
    plan = compile_plan(template_text)
    assert plan.steps[0].arguments == {"limit": Constant(value={"of": 3})}
    compiled = compile_template(template_text.replace(", valueFrom: $(self.of)", ""), name="t")
    assert any(
        "the default of input 'limit' of step 'count' must be of type int" in str(warning)
        for warning in compiled.warnings
    )


def test_optional_parameter_fits_a_tool_input_with_a_default() -> None:
    optional, tool = (
        ("    type: int\n    default: 5", "    type: int?"),
        "        limit: {type: int, ",
    )
    text = edit_text(optional, (tool, f"{tool}default: 7, "))
    assert compile_template(text, name="t").findings == []
    other = ("    type: int\n    default: 5", "    type: [int, string, 'null']")
    text = edit_text(other, (tool, f"{tool}default: 7, "))
    (warning,) = compile_template(text, name="t").findings
    assert warning.message.endswith("a job fails where the value does not fit")


def test_optional_output_file_filters_a_data_set() -> None:
    text = edit_text(
        ("        number: stdout", "        number: {type: File?, outputBinding: {glob: x}}"),
        ("parts: count/number", "parts: {source: count/number, pickValue: all_non_null}"),
    )
    compiled = compile_template(text, name="t")
    assert compiled.plan is not None, compiled.findings
    assert compiled.plan.steps[0].outputs[0].optional
    assert compiled.findings == []
    compiled = compile_template(text.replace(", pickValue: all_non_null", ""), name="t")
    assert compiled.plan is not None
    assert "add 'pickValue: all_non_null'" in compiled.warnings[0].message


def test_map_step_runs_on_each_file_of_a_grouped_merge() -> None:
    """In plain CWL a merge gives a single file; with groups it gives several files."""
    pack = """\
  pack:
    in: {file: join/joined}
    out: [packed]
    run:
      class: CommandLineTool
      baseCommand: gzip
      inputs: {file: {type: File, inputBinding: {}}}
      outputs: {packed: stdout}
      requirements: {ToolTimeLimit: {timelimit: 5}}
"""
    text = edit_text(("outputSource: join/joined", "outputSource: pack/packed"))
    plan = compile_plan(text + pack)
    assert (plan.steps[2].mode, plan.steps[2].main_input.source) == (
        TaskMode.MAP,
        Source(step="join", port="joined"),
    )


def test_plan_is_equal_after_a_round_trip_through_json() -> None:
    plan = compile_plan(SPD.read_text())
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_input_that_the_tool_does_not_have_is_left_out() -> None:
    text = edit_text(("      note: note", "      notes: note\n      more: {default: 3}"))
    compiled = compile_template(text, name="t")
    assert compiled.plan is not None, compiled.findings
    assert compiled.plan.step("join").arguments == {}
    warned = [one.message for one in compiled.warnings if "is left out" in one.message]
    assert len(warned) == 2
    assert any(message.endswith("did you mean 'note'?") for message in warned)


def test_unused_input_of_a_tool_may_have_any_name() -> None:
    text = edit_text(
        ("        note: string?\n", "        note: string?\n        quick mode: boolean?\n")
    )
    plan = compile_plan(text)
    assert "quick mode" in plan.step("join").tool["inputs"]
