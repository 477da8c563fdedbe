"""Templates whose files have different CWL versions."""

from pathlib import Path
from typing import Any

import pytest

from sluice.contracts.templates.plan import Plan
from sluice.cwl.compiler import compile_file

_WORKFLOW = """\
cwlVersion: VERSION
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  SubworkflowFeatureRequirement: {}
  StepInputExpressionRequirement: {}
  InlineJavascriptRequirement: {expressionLib: [of the workflow]}
inputs: {files: "File[]"}
outputs: {o: {type: "File[]", outputSource: one/o}}
steps:
  one:
    scatter: f
    in: {f: files, n: {valueFrom: $(1)}}
    out: [o]
    run: RUN
"""
_TOOL = """\
cwlVersion: VERSION
class: CommandLineTool
requirements: {InlineJavascriptRequirement: {expressionLib: [of the tool]}}
baseCommand: cat
inputs: {f: File, n: int?}
outputs: {o: stdout}
"""
_NESTED = """\
cwlVersion: VERSION
class: Workflow
inputs: {f: File, n: int?}
outputs: {o: {type: File, outputSource: inner/o}}
steps:
  inner: {in: {f: f}, out: [o], run: tool.cwl}
  inline: {in: {f: f}, out: [o], run: {class: CommandLineTool, baseCommand: cat, inputs: {f: File},
    outputs: {o: stdout}}}
"""


def _compile_plan(folder: Path, workflow: str, **files: str) -> Plan:
    for name, text in files.items():
        (folder / f"{name}.cwl").write_text(text)
    (folder / "workflow.cwl").write_text(workflow)
    compiled, _ = compile_file(folder / "workflow.cwl", name="t")
    assert compiled.plan is not None, "\n".join(map(str, compiled.findings))
    return compiled.plan


def _fill_template(version: str, text: str, run: str = "tool.cwl") -> str:
    return text.replace("VERSION", version).replace("RUN", run)


def _list_versions(process: dict[str, Any]) -> Any:
    """Return the version of a process and of each nested process; None if it is inherited."""
    steps = process.get("steps", {})
    inside = {name: _list_versions(step["run"]) for name, step in steps.items()}
    return (process.get("cwlVersion"), inside) if inside else process.get("cwlVersion")


@pytest.mark.parametrize(
    ("workflow", "tool", "versions"),
    [
        ("v1.2", "v1.2", ("v1.2", {"run": None})),
        ("v1.2", "v1.0", ("v1.2", {"run": "v1.0"})),
        ("v1.1", "v1.0", ("v1.1", {"run": "v1.0"})),
    ],
)
def test_step_has_the_version_of_its_workflow_and_its_tool_has_its_own(
    tmp_path: Path, workflow: str, tool: str, versions: Any
) -> None:
    step = _compile_plan(
        tmp_path, _fill_template(workflow, _WORKFLOW), tool=_fill_template(tool, _TOOL)
    ).steps[0]
    assert _list_versions(step.tool) == versions


@pytest.mark.parametrize(
    ("nested", "tool", "versions"),
    [
        ("v1.2", "v1.0", (None, {"inner": "v1.0", "inline": None})),
        ("v1.0", "v1.0", ("v1.0", {"inner": None, "inline": None})),
        ("v1.0", "v1.2", ("v1.0", {"inner": "v1.2", "inline": None})),
    ],
)
def test_process_in_a_nested_workflow_keeps_its_version(
    tmp_path: Path, nested: str, tool: str, versions: Any
) -> None:
    workflow = _fill_template("v1.2", _WORKFLOW, "nested.cwl")
    step = _compile_plan(
        tmp_path, workflow, nested=_fill_template(nested, _NESTED), tool=_fill_template(tool, _TOOL)
    ).steps[0]
    assert _list_versions(step.tool) == ("v1.2", {"run": versions})


@pytest.mark.parametrize("version", ["v1.0", "v1.1", "v1.2"])
def test_tool_without_memory_request_is_recorded_as_such(tmp_path: Path, version: str) -> None:
    plain = _WORKFLOW.replace(", n: {valueFrom: $(1)}", "")
    step = _compile_plan(
        tmp_path, _fill_template("v1.2", plain), tool=_fill_template(version, _TOOL)
    ).steps[0]
    assert (step.tool["class"], step.tool["cwlVersion"], step.needs.resources.ram) == (
        "CommandLineTool",
        version,
        0,
    )
    assert step.needs.resources.counted_ram == 256


def test_expressions_of_a_step_use_the_library_of_the_workflow(tmp_path: Path) -> None:
    tool = (
        _compile_plan(
            tmp_path, _fill_template("v1.2", _WORKFLOW), tool=_fill_template("v1.2", _TOOL)
        )
        .steps[0]
        .tool
    )

    def libraries(process: dict[str, Any]) -> list[Any]:
        return [
            requirement["expressionLib"]
            for requirement in process["requirements"]
            if "expressionLib" in requirement
        ]

    assert libraries(tool) == [["of the workflow"]]
    assert libraries(tool["steps"]["run"]["run"]) == [["of the tool"]]


def test_version_inside_a_file_has_no_effect_and_gives_a_warning(tmp_path: Path) -> None:
    inline = _fill_template("v1.0", _TOOL).replace("\n", "\n      ").rstrip()
    workflow = _fill_template("v1.2", _WORKFLOW, f"\n      {inline}\n")
    (tmp_path / "workflow.cwl").write_text(workflow)
    compiled, _ = compile_file(tmp_path / "workflow.cwl", name="t")
    assert compiled.plan is not None, compiled.findings
    assert _list_versions(compiled.plan.steps[0].tool) == ("v1.2", {"run": None})
    [warning] = [finding for finding in compiled.warnings if "has no effect" in finding.message]
    assert (warning.line, warning.column) == (16, 7)
