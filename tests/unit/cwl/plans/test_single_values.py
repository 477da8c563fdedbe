"""Steps that run once on single values, and warnings about missing values."""

import pytest

from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.plan import ParameterRef, PlanStep
from sluice.cwl import compile_template

_HEAD = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
requirements:
  ScatterFeatureRequirement: {}
  MultipleInputFeatureRequirement: {}
  StepInputExpressionRequirement: {}
  InlineJavascriptRequirement: {}
  ToolTimeLimit: {timelimit: 60}
inputs: {files: "File[]", fast: boolean?}
outputs: {o: {type: Any, outputSource: last/o}}
steps:
  keep:
    scatter: f
    in: {f: files}
    out: [o]
    run: {class: CommandLineTool, baseCommand: cat, inputs: {f: File}, outputs: {o: {type: File?,
      outputBinding: {glob: x}}}}
  join:
    in: {f: files, go: fast}
    when: $(inputs.go)
    out: [o]
    run: &join {class: CommandLineTool, baseCommand: cat, inputs: {f: "File[]"},
      outputs: {o: stdout}}
  always:
    in: {f: files}
    out: [o]
    run: *join
"""


def write_last_step(bindings: str, types: str, *, more: str = "") -> str:
    return f"""\
  last:
    in: {{{bindings}}}
    out: [o]
    {more}
    run: {{class: CommandLineTool, baseCommand: echo, inputs: {{{types}}}, outputs: {{o: stdout}}}}
"""


def compile_last_step(
    bindings: str, types: str, *, more: str = "", head: str = _HEAD
) -> tuple[PlanStep, list[Finding]]:
    """Return the plan of the last step and the findings about it.

    ``bindings`` are the inputs of the step, ``types`` those of its tool.
    """
    result = compile_template(head + write_last_step(bindings, types, more=more), name="t")
    assert result.plan is not None, "\n".join(map(str, result.findings))
    line = head.count("\n") + 2
    return result.plan.step("last"), [
        finding for finding in result.findings if finding.line == line
    ]


def test_step_on_single_values_has_one_job_even_if_they_are_missing() -> None:
    step, findings = compile_last_step("x: join/o, y: join/o", "x: File?, y: File?")
    assert (step.single, step.main_input.optional, findings) == (True, True, [])
    assert [(side.port, side.optional) for side in step.inputs[1:]] == [("y", True)]


@pytest.mark.parametrize(
    ("bindings", "types", "more"),
    [
        ("x: always/o", "x: File?", ""),
        ("x: {source: [join/o, always/o], pickValue: first_non_null}", "x: File?", ""),
        ("x: join/o, f: files", "x: File?, f: 'File[]'", ""),
        ("x: join/o, f: files", "x: File?, f: File", "scatter: f"),
    ],
)
def test_step_with_jobs_from_its_data_is_not_single(bindings: str, types: str, more: str) -> None:
    assert not compile_last_step(bindings, types, more=more)[0].single


def test_merge_with_groups_is_not_single() -> None:
    head = _HEAD.replace(
        "    when: $(inputs.go)\n", "    when: $(inputs.go)\n    sluice:merge: {files: 2}\n"
    )
    assert not compile_last_step("x: join/o", "x: File?", head=head)[0].single
    tree = head.replace("    when: $(inputs.go)\n", "").replace(
        "{files: 2}", "{files: 2, tree: true}"
    )
    tree = tree.replace("{f: files, go: fast}", "{f: files}")
    assert not compile_last_step("x: join/o", "x: File?", head=tree)[0].single, (
        "the last job of a merge tree always exists"
    )


@pytest.mark.parametrize(
    ("bindings", "types", "more"),
    [
        ("x: join/o", "x: {type: File, default: {class: File, basename: a, contents: ''}}", ""),
        ("x: {source: join/o, valueFrom: $(self)}", "x: Any", ""),
        ("x: join/o", "x: File", "when: $(inputs.x !== null)"),
    ],
)
def test_default_or_expression_allows_a_missing_value(bindings: str, types: str, more: str) -> None:
    step, findings = compile_last_step(bindings, types, more=more)
    assert (step.single, step.main_input.optional, findings) == (True, True, [])


def test_required_value_that_may_be_missing_gives_a_warning() -> None:
    step, findings = compile_last_step("x: join/o", "x: File")
    assert (step.single, step.main_input.optional) == (True, False)
    assert [finding.severity for finding in findings] == ["warning"]
    assert findings[0].message.endswith(
        "the step fails if the value is missing; if the tool can do without it, let it take File?"
    )


def test_single_values_are_joined_in_the_job_if_the_tool_takes_nulls() -> None:
    step, findings = compile_last_step(
        "x: [join/o, always/o]", "x: {type: {type: array, items: ['null', File]}}"
    )
    assert findings == []
    assert [(source.port, source.optional) for source in step.inputs] == [
        ("x_1", True),
        ("x_2", True),
    ]
    assert step.tool["class"] == "Workflow"


@pytest.mark.parametrize(
    ("bindings", "types", "more"),
    [
        ("x: keep/o", "x: File?", "scatter: x"),
        ("x: keep/o", "x: {type: {type: array, items: ['null', File]}}", ""),
        ("x: {source: keep/o, valueFrom: $(self.length)}", "x: int", ""),
    ],
)
def test_step_that_takes_nulls_of_a_list_runs_in_one_job_with_the_workflow(
    bindings: str, types: str, more: str
) -> None:
    result = compile_template(_HEAD + write_last_step(bindings, types, more=more), name="t")
    assert result.plan is not None
    assert [step.name for step in result.plan.steps] == ["workflow"]
    assert "write 'pickValue: all_non_null' to leave them out" in str(result.warnings)
    written, _, rest = (
        bindings.removeprefix("x: ").removeprefix("{source: ").partition(", valueFrom")
    )
    chosen = (
        f"x: {{source: {written}, pickValue: all_non_null{', valueFrom' * bool(rest)}{rest or '}'}"
    )
    assert compile_last_step(chosen, types, more=more)[1] == []


def test_nulls_of_a_list_are_left_out_if_steps_have_fields_of_sluice() -> None:
    _, findings = compile_last_step("x: keep/o", "x: File?", more="scatter: x\n    sluice:rank: 2")
    assert [finding.severity for finding in findings] == ["warning"]
    assert "a data set has no nulls" in findings[0].message


@pytest.mark.parametrize(
    ("bindings", "types", "messages"),
    [
        ("x: keep/o, y: files", "x: File?, y: File", []),
        (
            "x: keep/o, y: files",
            "x: File, y: File",
            ["there is no job here for a number where it is missing"],
        ),
    ],
)
def test_pair_has_a_job_if_one_of_its_files_exists(
    bindings: str, types: str, messages: list[str]
) -> None:
    _, findings = compile_last_step(
        bindings, types, more="scatter: [x, y]\n    scatterMethod: dotproduct"
    )
    assert len(findings) == len(messages)
    assert all(part in finding.message for part, finding in zip(messages, findings, strict=True))


def test_nulls_of_a_workflow_output_give_a_warning() -> None:
    outputs = (
        "{o: {type: Any, outputSource: last/o}, kept: {type: {type: array, items: ['null', File]},"
        " outputSource: keep/o}}"
    )
    head = _HEAD.replace("{o: {type: Any, outputSource: last/o}}", outputs)
    result = compile_template(head + "  last: {in: {f: files}, out: [o], run: *join}\n", name="t")
    [warning] = [finding for finding in result.warnings if "no nulls" in finding.message]
    assert warning.message.startswith("output 'kept': 'keep/o' is (File?)[]")


def test_inputs_may_have_blanks_and_other_characters_in_their_names() -> None:
    head = _HEAD.replace("fast: boolean?}", "fast: boolean?, 'quick mode (ü)': boolean?}")
    step, _ = compile_last_step(
        "'quick mode': 'quick mode (ü)'", "'quick mode': boolean?", head=head
    )
    assert step.arguments == {"quick mode": ParameterRef(name="quick mode (ü)")}
