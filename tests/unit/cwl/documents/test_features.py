"""The table of features describes what the compiler does with a sample of each feature."""

# ruff: noqa: E501 (one sample a line keeps the table readable)

from dataclasses import dataclass

import pytest

from scripts.docs.cwl_features import groups
from sluice.cwl import compile_template
from sluice.cwl.features import Feature, SupportLevel
from tests.unit.cwl.documents.invocation_step import INVOKE
from tests.unit.cwl.samples import (
    GRAPH,
    LINEAR,
    OF_VALUES,
    edit_text,
    list_reasons_against_spreading,
    remove_fields_of_steps,
)

Edits = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Sample:
    """A template with edits; ``wrapped`` is the step whose job runs as a workflow of its own."""

    edits: Edits
    text: str = LINEAR
    wrapped: str | None = None


COUNT = "        ToolTimeLimit: {timelimit: 10}\n  join"
TOOL = "    run:\n      class: CommandLineTool\n      baseCommand: cat"
SEVERAL = (
    "requirements:\n",
    "requirements:\n  MultipleInputFeatureRequirement: {}\n  StepInputExpressionRequirement: {}\n  SubworkflowFeatureRequirement: {}\n  InlineJavascriptRequirement: {}\n",
)
NESTED_OUTPUT = (
    'both: {type: "File[]", outputSource: mark/marked}',
    "both: {type: {type: array, items: {type: array, items: File}}, outputSource: mark/marked}",
)
GRAPH_SEVERAL = (
    "  ScatterFeatureRequirement: {}",
    "  ScatterFeatureRequirement: {}\n  MultipleInputFeatureRequirement: {}",
)
ONE_OF = (
    "  page: {type: File, outputSource: report/page}",
    "  page: {type: File, outputSource: [report/page, total/sum], pickValue: PICK}",
)
HEAD_OF_GRAPH = 'class: Workflow\n$namespaces: {sluice: "urn:sluice:cwl:", cwltool: "http://commonwl.org/cwltool#"}\n'


def require_in_tool(requirement: str) -> Sample:
    return Sample([(COUNT, f"        {requirement}\n{COUNT}")])


def set_version(number: str) -> Sample:
    edits = [("v1.2", number)]
    return Sample(
        edits
        if number != "v1.0"
        else [
            *edits,
            *[
                (
                    "        ToolTimeLimit: {timelimit: 10}",
                    "        ResourceRequirement: {coresMin: 1}",
                )
            ]
            * 2,
        ]
    )


def pick_value(name: str) -> Sample:
    return Sample([GRAPH_SEVERAL, (ONE_OF[0], ONE_OF[1].replace("PICK", name))], GRAPH)


def require_container(fields: str) -> Sample:
    return require_in_tool(f"DockerRequirement: {{{fields}}}")


VALUE = "      limit: {source: limit, FIELDvalueFrom: $(self)}"
NESTED = """    run:
      class: Workflow
      inputs: {parts: "File[]", note: "string?"}
      outputs: {joined: {type: File, outputSource: inner/joined}}
      steps:
        inner:
          in: {parts: parts}
          out: [joined]
          run: {class: CommandLineTool, baseCommand: cat, arguments: [$(inputs.parts)], inputs: {parts: "File[]"}, outputs: {joined: stdout}}
"""
EXPRESSION = """    run:
      class: ExpressionTool
      requirements: {InlineJavascriptRequirement: {}}
      inputs: {parts: "File[]", note: "string?"}
      outputs: {joined: File}
      expression: "${ return {joined: inputs.parts[0]}; }"
"""
JOIN = LINEAR[LINEAR.index(TOOL) :]

SAMPLES: dict[str, Sample] = {
    "v1.0": set_version("v1.0"),
    "v1.1": set_version("v1.1"),
    "v1.2": set_version("v1.2"),
    "CommandLineTool": Sample([]),
    "ExpressionTool": Sample([SEVERAL, (JOIN, EXPRESSION)], wrapped="join"),
    "Workflow": Sample([SEVERAL, (JOIN, NESTED)], wrapped="join"),
    "Operation": Sample([("steps:\n", INVOKE)]),
    "scatter": Sample([]),
    "when": Sample([SEVERAL, ("    scatter: frame\n", "    scatter: frame\n    when: $(inputs.limit > 1)\n")], wrapped="count"),
    "valueFrom": Sample([SEVERAL, ("      limit: limit", VALUE.replace("FIELD", ""))], wrapped="count"),
    "loadContents": Sample([SEVERAL, ("frame: frames", "frame: {source: frames, loadContents: true}"), ("      limit: limit", VALUE.replace("FIELD", ""))], wrapped="count"),
    "loadListing": Sample([SEVERAL, ("frame: frames", "frame: {source: frames, loadListing: no_listing}"), ("      limit: limit", VALUE.replace("FIELD", ""))], wrapped="count"),
    "dotproduct": Sample([], GRAPH),
    "nested_crossproduct": Sample([("dotproduct", "nested_crossproduct"), NESTED_OUTPUT, ("marked: mark/marked, ", ""), ("marked: \"File[]\", ", ""), ("$(inputs.marked), ", "")], GRAPH),
    "flat_crossproduct": Sample([("dotproduct", "flat_crossproduct")], GRAPH),
    "merge_flattened": Sample([SEVERAL, ("parts: count/number", "parts: {source: [count/number, frames], linkMerge: merge_flattened}")]),
    "merge_nested": Sample([GRAPH_SEVERAL, ("  both:", "  two: {type: 'File[]', outputSource: [report/page, total/sum], linkMerge: merge_nested}\n  both:")], GRAPH),
    "merge_nested of whole data sets": Sample([SEVERAL, ("        parts: File[]", "        parts: Any"), ("parts: count/number", "parts: {source: [count/number, frames], linkMerge: merge_nested}")], wrapped="join"),
    "first_non_null": pick_value("first_non_null"),
    "the_only_non_null": pick_value("the_only_non_null"),
    "all_non_null": Sample([("parts: count/number", "parts: {source: count/number, pickValue: all_non_null}")]),
    "pickValue among whole data sets": Sample([SEVERAL, ("parts: count/number", "parts: {source: [count/number, frames], pickValue: first_non_null}")], wrapped="join"),
    "outputs that join whole data sets": Sample([SEVERAL, ("  all:", "  two: {type: 'File[]', outputSource: [join/joined, count/number], linkMerge: merge_flattened}\n  all:")]),
    "several parameters": Sample([SEVERAL, ("        note: string?", "        note: Any"), ("note: note", "note: {source: [note, limit]}")], wrapped="join"),
    "data sets and parameters": Sample([SEVERAL, ("        parts: File[]", "        parts: Any"), ("parts: count/number", "parts: {source: [count/number, note], linkMerge: merge_flattened}")], wrapped="join"),
    "several parameters that are scattered over": Sample([SEVERAL, ("  note: string?", "  note: string[]"), ("    in:\n      parts: count/number\n      note: note", "    scatter: note\n    in:\n      parts: count/number\n      note: {source: [note, note], linkMerge: merge_flattened}"), ("    type: File\n    outputSource: join/joined", "    type: File[]\n    outputSource: join/joined")]),
    "default beside a source": Sample([("note: note", "note: {source: note, default: none}")], wrapped="join"),
    "default beside a source that is scattered over": Sample([("frame: frames", "frame: {source: frames, default: []}")]),
    "what a step changes in place": Sample([(COUNT, "        InplaceUpdateRequirement: {inplaceUpdate: true}\n" + COUNT), ("parts: count/number", "parts: frames")]),
    "output that is an input of the workflow": Sample([("  all:", "  same: {type: 'File[]', outputSource: frames}\n  all:")]),
    "lists that are scattered over": Sample([("    type: int\n    default: 5", "    type: int[]"), ("scatter: frame", "scatter: [frame, limit]\n    scatterMethod: dotproduct")]),
    "whole number of more than 64 bits": Sample([("    type: int\n    default: 5", "    type: double\n    default: 12345678901234567890")]),
    "File[]": Sample([]),
    "Directory[]": Sample([("frames: File[]", "frames: Directory[]"), ("frame: {type: File,", "frame: {type: Directory,")]),
    "File": Sample([("  note: string?", "  note: File"), ("        note: string?", "        note: File")]),
    "no data set": Sample([], OF_VALUES),
    "values": Sample([("  note: string?", "  note: {type: {type: record, fields: [{name: a, type: int}, {name: b, type: 'string[]'}]}}"), ("        note: string?", "        note: {type: {type: record, fields: [{name: a, type: int}, {name: b, type: 'string[]'}]}}")]),
    "a second File[]": Sample([("  note: string?", "  note: string?\n  more: File[]")]),
    "Directory": Sample([("  note: string?", "  note: Directory"), ("        note: string?", "        note: Directory")]),
    "a further Directory[]": Sample([("  note: string?", "  note: string?\n  more: Directory[]")]),
    "files within other types": Sample([("  note: string?", "  note: {type: {type: record, fields: [{name: a, type: File}]}}"), ("        note: string?", "        note: {type: {type: record, fields: [{name: a, type: File}]}}")]),
    "default of files or directories": Sample([("  note: string?", "  note: {type: Directory, default: {class: Directory, listing: []}}"), ("        note: string?", "        note: Directory")]),
    "default of a file outside the template": Sample([("  note: string?", "  note: {type: File, default: {class: File, path: /a}}"), ("        note: string?", "        note: File")]),
    "default of a file": Sample([("  note: string?", "  note: {type: File, default: {class: File, contents: a}}"), ("        note: string?", "        note: File")]),
    "secondaryFiles of the data set": Sample([("frames: File[]", "frames: {type: 'File[]', secondaryFiles: [.bai]}")]),
    "secondaryFiles of an input by an expression": Sample([("  note: string?", "  note: {type: File, secondaryFiles: [$(self.nameroot).bai]}"), ("        note: string?", "        note: File")]),
    "secondaryFiles of a parameter": Sample([("  note: string?", "  note: {type: File, secondaryFiles: [.bai]}"), ("        note: string?", "        note: File")]),
    "DockerRequirement": require_container("dockerPull: 'debian:12'"),
    "EnvVarRequirement": require_in_tool("EnvVarRequirement: {envDef: {LC_ALL: C}}"),
    "InitialWorkDirRequirement": require_in_tool("InitialWorkDirRequirement: {listing: [{entryname: a, entry: b}]}"),
    "InlineJavascriptRequirement": require_in_tool("InlineJavascriptRequirement: {}"),
    "InplaceUpdateRequirement": require_in_tool("InplaceUpdateRequirement: {inplaceUpdate: true}"),
    "LoadListingRequirement": require_in_tool("LoadListingRequirement: {loadListing: no_listing}"),
    "NetworkAccess": require_in_tool("NetworkAccess: {networkAccess: true}"),
    "ResourceRequirement": require_in_tool("ResourceRequirement: {coresMin: 2}"),
    "SchemaDefRequirement": Sample([("requirements:\n", "requirements:\n  SchemaDefRequirement: {types: [{type: enum, name: kind, symbols: [a, b]}]}\n"), ("  note: string?", "  note: kind?"), ("        note: string?", "        note: '#kind?'")]),
    "ShellCommandRequirement": require_in_tool("ShellCommandRequirement: {}"),
    "SoftwareRequirement": require_in_tool("SoftwareRequirement: {packages: {coreutils: {}}}"),
    "ToolTimeLimit": Sample([]),
    "WorkReuse": require_in_tool("WorkReuse: {enableReuse: false}"),
    "dockerPull": require_container("dockerPull: 'debian:12'"),
    "dockerImageId": require_container("dockerImageId: 'debian:12'"),
    "dockerOutputDirectory": require_container("dockerPull: 'debian:12', dockerOutputDirectory: /out"),
    "dockerFile": require_container("dockerImageId: x, dockerFile: FROM debian"),
    "dockerLoad": require_container("dockerImageId: x, dockerLoad: x.tar"),
    "dockerImport": require_container("dockerImageId: x, dockerImport: x.tar"),
    "MultipleInputFeatureRequirement": Sample([SEVERAL]),
    "ScatterFeatureRequirement": Sample([]),
    "StepInputExpressionRequirement": Sample([SEVERAL, ("      limit: limit", VALUE.replace("FIELD", ""))], wrapped="count"),
    "SubworkflowFeatureRequirement": Sample([SEVERAL, (JOIN, NESTED)], wrapped="join"),
    "cwltool:CUDARequirement": Sample([("class: Workflow\n", HEAD_OF_GRAPH), ("  ScatterFeatureRequirement: {}", "  ScatterFeatureRequirement: {}\nhints: {cwltool:CUDARequirement: {cudaVersionMin: '11.4', cudaComputeCapability: '3.0'}}")], GRAPH),
    "cwltool:TimeLimit": Sample([("class: Workflow\n", HEAD_OF_GRAPH), ("v1.2", "v1.0"), ("  ScatterFeatureRequirement: {}", "  ScatterFeatureRequirement: {}\nhints: {cwltool:TimeLimit: {timelimit: 5}}"), *[("ToolTimeLimit: {timelimit: 60}", "ResourceRequirement: {coresMin: 1}")] * 4], GRAPH),
    "cwltool:MPIRequirement": Sample([("class: Workflow\n", HEAD_OF_GRAPH), ("  ScatterFeatureRequirement: {}", "  ScatterFeatureRequirement: {}\nhints: {cwltool:MPIRequirement: {processes: 2}}")], GRAPH),
    "cwltool:Secrets": Sample([("$namespaces:", "$namespaces:\n  cwltool: 'http://commonwl.org/cwltool#'"), ("inputs:\n  frames", "sluice:bind: {note: secret:a}\ninputs:\n  frames"), ("        note: string?\n      outputs:", "        note: string?\n      hints: {cwltool:Secrets: {secrets: [note]}}\n      outputs:")]),
    "sluice:match": Sample([]),
    "sluice:priority": Sample([("doc: Counts", "sluice:priority: 3\ndoc: Counts")]),
    "sluice:bind": Sample([("doc: Counts", "sluice:bind: {limit: run}\ndoc: Counts")]),
    "sluice:require": Sample([("doc: Counts", "sluice:require: {files: {minimum: 2}}\ndoc: Counts")]),
    "sluice:retention": Sample([("doc: Counts", "sluice:retention: {logs: keep}\ndoc: Counts")]),
    "sluice:boundary": Sample([]),
    "sluice:retry": Sample([("sluice:boundary: {minimum: 0.9}", "sluice:retry: {attempts: 2}")]),
    "sluice:rank": Sample([("sluice:boundary: {minimum: 0.9}", "sluice:rank: 2")]),
    "sluice:sandbox": Sample([("doc: Counts", "sluice:sandbox: required\ndoc: Counts"), ("sluice:boundary: {minimum: 0.9}", "sluice:sandbox: required")]),
    "sluice:resources": Sample(
        [("sluice:boundary: {minimum: 0.9}", "sluice:resources: {licence: 1}")]
    ),
    "sluice:nodes": Sample([("sluice:boundary: {minimum: 0.9}", "sluice:nodes: {site: prague}")]),
    "sluice:gpu": Sample([("sluice:boundary: {minimum: 0.9}", "sluice:gpu: {share: 0.5}")]),
    "sluice:merge": Sample([]),
    "sluice:invoke": Sample([("steps:\n", INVOKE)]),
    "sluice:ask": Sample([("steps:\n", INVOKE.replace("invoke: true", "ask: {question: Good?}").replace("      requirements: {ToolTimeLimit: {timelimit: 60}}\n", ""))]),
    "sluice:batch": Sample([("sluice:boundary: {minimum: 0.9}", "sluice:batch: {files: 2}")]),
    "sluice:flow": Sample([("sluice:boundary: {minimum: 0.9}", "sluice:flow: dataset")]),
    "sluice:warm": Sample([("sluice:boundary: {minimum: 0.9}", "sluice:warm: true")]),
    "sluice:checkpoint": Sample(
        [("sluice:boundary: {minimum: 0.9}", "sluice:checkpoint: {files: [state/*]}")]
    ),
    "sluice:collect": Sample([("    outputSource: join/joined\n", "    outputSource: join/joined\n    sluice:collect: corpus\n")]),
    "sluice:device": Sample([("sluice:boundary: {minimum: 0.9}", "sluice:device: gpu")]),
}  # fmt: skip

ROWS: dict[str, Feature] = {
    name: feature for rows in groups().values() for name, feature in rows.items()
}


def test_feature_table_and_samples_have_the_same_names() -> None:
    assert SAMPLES.keys() == ROWS.keys()
    assert len(ROWS) == sum(map(len, groups().values())), "a feature is in the table twice"


@pytest.mark.parametrize("name", ROWS)
def test_feature_row_agrees_with_the_compiler(name: str) -> None:
    feature, sample = ROWS[name], SAMPLES[name]
    text = edit_text(*sample.edits, text=sample.text)
    if feature.support is SupportLevel.WHOLE:
        reasons = list_reasons_against_spreading(remove_fields_of_steps(text))
        assert [reason for reason in reasons if feature.note in reason]
        return
    compiled = compile_template(text, name="t")
    if feature.support is SupportLevel.REFUSED:
        assert compiled.plan is None
        assert any(feature.note in error.message for error in compiled.errors), compiled.errors
        return
    assert compiled.plan is not None, compiled.errors
    workflows = [
        step.name
        for step in compiled.plan.steps
        if step.tool["class"] == "Workflow" and step.name in {"count", "join"}
    ]
    assert workflows == ([] if sample.wrapped is None else [sample.wrapped])
    if sample.wrapped is not None:
        assert feature.support is SupportLevel.JOB
