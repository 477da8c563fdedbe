"""Workflows that run inside one job, tools as templates, and parameters that are bundles."""

import pytest

from sluice.contracts.common.states import EntryKind, InputMode, TaskMode
from sluice.contracts.templates.plan import ParameterRef, Plan
from sluice.cwl import compile_template
from tests.unit.cwl.samples import GRAPH, compile_plan, edit_text, list_reasons_against_spreading

TOOL = """
cwlVersion: v1.2
class: CommandLineTool
$namespaces: {sluice: "urn:sluice:cwl:"}
baseCommand: wc
inputs:
  text: {type: File, inputBinding: {}}
  lines: {type: boolean, default: true}
outputs:
  counts: stdout
  log: stderr
"""

ONE_STEP = """
cwlVersion: v1.2
class: Workflow
inputs:
  value: TYPE
outputs:
  o: {type: File, outputSource: show/o}
steps:
  show:
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs: {value: TYPE}
      outputs: {o: stdout}
    in: {value: value}
    out: [o]
"""

RECORD = "{type: {type: record, name: N, fields: {reads: 'File[]', label: string}}}"


def test_workflow_that_cannot_be_spread_runs_inside_one_job() -> None:
    text = edit_text(
        (
            "ScatterFeatureRequirement: {}",
            "{ScatterFeatureRequirement: {}, MultipleInputFeatureRequirement: {}}",
        ),
        ("before: texts", "before: {source: [texts, total/sum], linkMerge: merge_flattened}"),
        (
            "after: upper/big",
            "after: {source: [total/sum, upper/big], linkMerge: merge_flattened}",
        ),
        text=GRAPH,
    )
    [reason] = list_reasons_against_spreading(text)
    assert "do not consist of the same data sets in the same order" in reason
    plan = compile_plan(text)
    [step] = plan.steps
    assert (step.name, step.mode, plan.data_input) == ("workflow", TaskMode.MERGE, "texts")
    assert [output.name for output in plan.outputs] == ["page", "both"]


def test_workflow_whose_steps_have_extension_fields_is_spread_or_refused() -> None:
    text = (
        ONE_STEP.replace("TYPE", "'File[]'")
        .replace("out: [o]", "out: [o]\n    sluice:batch: {files: 2}")
        .replace("class: Workflow", 'class: Workflow\n$namespaces: {sluice: "urn:sluice:cwl:"}')
    )
    compiled = compile_template(text, name="t")
    assert compiled.plan is None
    assert "batches are for steps that run their tool on each file" in compiled.errors[0].message


def test_workflow_that_cwltool_refuses_is_refused_by_the_first_reason() -> None:
    text = ONE_STEP.replace("value: TYPE\noutputs", "value: File\noutputs").replace("TYPE", "int")
    compiled = compile_template(text, name="t")
    assert compiled.plan is None
    assert [error.message for error in compiled.errors] == [
        "input 'value' of step 'show' takes int, and 'value' is File"
    ]


def test_tool_is_a_template_of_one_step() -> None:
    plan = compile_plan(TOOL)
    [step] = plan.steps
    assert (step.name, step.mode, plan.takes_dataset) == ("tool", TaskMode.MAP, False)
    assert plan.parameters["text"].type == "File"
    assert plan.parameters["lines"].default is True
    assert [output.name for output in plan.outputs] == ["counts", "log"]
    assert step.tool["class"] == "CommandLineTool"


def test_matched_tool_runs_on_each_file() -> None:
    plan = compile_plan(TOOL.replace("baseCommand", "sluice:match: {kind: text}\nbaseCommand"))
    [step] = plan.steps
    assert (plan.data_input, step.main_input.mode) == ("text", InputMode.EACH)
    assert not any(output.single for output in plan.outputs)


@pytest.mark.parametrize(
    "kind",
    [
        RECORD,
        '"File[]?"',
        "[string, File]",
        "Any",
        '["null", Any]',
        "{type: {type: array, items: {type: array, items: File}}}",
        "{type: File, secondaryFiles: $(self.basename).x}",
    ],
)
def test_value_with_files_is_a_bundle(kind: str) -> None:
    plan = compile_plan(ONE_STEP.replace("TYPE", kind))
    [step] = plan.steps
    [value] = [one for one in step.inputs if one.port == "value"]
    assert plan.file_parameters == ["value"]
    assert plan.dataset_parameters == []
    assert plan.parameters["value"].is_bundle
    assert (value.mode, value.kind) == (InputMode.ONE, EntryKind.BUNDLE)
    assert step.arguments["value"] == ParameterRef(name="value")
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


@pytest.mark.parametrize(
    ("item", "secondary"),
    [
        ("{type: record, name: N, fields: {reads: File, label: string}}", ""),
        ("{type: array, items: File}", ""),
        ("[string, File]", ""),
        ("File", ", secondaryFiles: $(self.basename).x"),
    ],
)
def test_list_that_a_step_scatters_over_is_a_data_set_of_bundles(item: str, secondary: str) -> None:
    scatter = "class: Workflow\nrequirements: {ScatterFeatureRequirement: {}}"
    text = (
        ONE_STEP.replace(
            "value: TYPE\noutputs",
            f"value: {{type: {{type: array, items: {item}}}{secondary}}}\noutputs",
        )
        .replace("TYPE", f"{{type: {item}}}")
        .replace("type: File, outputSource", "type: 'File[]', outputSource")
        .replace("    in:", "    scatter: value\n    in:")
        .replace("class: Workflow", scatter)
    )
    plan = compile_plan(text)
    [step] = plan.steps
    assert plan.file_parameters == plan.dataset_parameters == ["value"]
    assert not plan.parameters["value"].is_bundle
    assert (step.main_input.port, step.main_input.mode) == ("value", InputMode.EACH)
    assert step.main_input.kind is EntryKind.BUNDLE
    assert step.arguments == {}
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_scatter_over_the_files_of_a_bundle_runs_inside_one_job() -> None:
    scatter = "class: Workflow\nrequirements: {ScatterFeatureRequirement: {}}"
    text = (
        ONE_STEP.replace("value: TYPE\noutputs", "value: {type: 'File[]', default: []}\noutputs")
        .replace("TYPE", "File")
        .replace("type: File, outputSource", "type: 'File[]', outputSource")
        .replace("    in:", "    scatter: value\n    in:")
        .replace("class: Workflow", scatter)
    )
    [reason] = list_reasons_against_spreading(text)
    assert "only a job can do this" in reason


def test_workflow_without_outputs_keeps_logs_only() -> None:
    text = ONE_STEP.replace("TYPE", "string").replace(
        "outputs:\n  o: {type: File, outputSource: show/o}", "outputs: []"
    )
    plan = compile_plan(text)
    assert plan.outputs == []
    assert [output.port for output in plan.steps[0].outputs] == ["o"]


def test_collected_output_of_a_whole_workflow_is_collected() -> None:
    scatter = "class: Workflow\nrequirements: {ScatterFeatureRequirement: {}}"
    text = (
        ONE_STEP.replace("value: TYPE\noutputs", "value: {type: 'File[]', default: []}\noutputs")
        .replace("TYPE", "File")
        .replace(
            "type: File, outputSource: show/o",
            "type: 'File[]', outputSource: show/o, 'sluice:collect': c",
        )
        .replace("    in:", "    scatter: value\n    in:")
        .replace("class: Workflow", scatter + "\n$namespaces: {sluice: 'urn:sluice:cwl:'}")
    )
    assert list_reasons_against_spreading(text)
    [output] = compile_plan(text).outputs
    assert output.collect is not None


@pytest.mark.parametrize("field", ["pickValue: all_non_null", "linkMerge: merge_nested"])
def test_joined_list_of_bundles_runs_inside_one_job(field: str) -> None:
    """The items of a bundle that are null are known to the job only."""
    scatter = "class: Workflow\nrequirements: {ScatterFeatureRequirement: {}}"
    text = (
        ONE_STEP.replace(
            "value: TYPE\noutputs", 'value: {type: {type: array, items: ["null", File]}}\noutputs'
        )
        .replace("TYPE", "Any")
        .replace("type: File, outputSource", "type: 'File[]', outputSource")
        .replace(
            "    in: {value: value}",
            f"    scatter: value\n    in: {{value: {{source: value, {field}}}}}",
        )
        .replace("class: Workflow", scatter)
    )
    [reason] = list_reasons_against_spreading(text)
    assert "only a job can do this" in reason


@pytest.mark.parametrize("kind", ["Any", "[string, File]"])
def test_metadata_may_set_a_value_that_may_have_files(kind: str) -> None:
    head = 'class: Workflow\n$namespaces: {sluice: "urn:sluice:cwl:"}\nsluice:bind: {value: origin}'
    text = (
        ONE_STEP.replace("class: Workflow", head)
        .replace("inputs:\n  value: TYPE", "inputs:\n  files: File[]\n  value: TYPE")
        .replace("TYPE", kind)
        .replace("in: {value: value}", "in: {value: value, files: files}")
        .replace("inputs: {value:", 'inputs: {files: "File[]", value:')
    )
    assert compile_plan(text).bind == {"value": "origin"}
