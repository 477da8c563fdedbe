"""Rules for pairing the files of two data sets by number."""

import pytest

from tests.unit.cwl.samples import list_reasons_against_spreading

_HEAD = """\
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  MultipleInputFeatureRequirement: {}
  InlineJavascriptRequirement: {}
  ToolTimeLimit: {timelimit: 60}
inputs: {files: "File[]"}
outputs: {o: {type: "File[]", outputSource: pair/o}}
steps:
  f:
    scatter: x
    in: {x: files}
    when: $(inputs.x.size)
    out: [o, p]
    run: &two {class: CommandLineTool, baseCommand: cat, inputs: {x: File}, outputs: {o: stdout,
      p: stderr}}
  g:
    scatter: x
    in: {x: {source: f/o, pickValue: all_non_null}}
    out: [o, p]
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs: {x: File}
      outputs: {o: {type: File?, outputBinding: {glob: o}}, p: {type: File?,
        outputBinding: {glob: p}}}
  m:
    scatter: x
    in: {x: {source: g/o, pickValue: all_non_null}}
    out: [o, p]
    run: *two
  list:
    in: {x: files}
    out: [o, p]
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs: {x: "File[]"}
      outputs: {o: {type: "File[]", outputBinding: {glob: o}}, p: {type: "File[]",
        outputBinding: {glob: p}}}
  pair:
    scatter: [x, y]
    scatterMethod: dotproduct
    out: [o]
    run: {class: CommandLineTool, baseCommand: cat, inputs: {x: File?, y: File?},
      outputs: {o: stdout}}
"""


def _list_reasons(x: str, y: str) -> list[str]:
    """Return why the workflow is not spread over jobs."""
    links = f"    in: {{x: {_describe_link(x)}, y: {_describe_link(y)}}}\n"
    return list_reasons_against_spreading(_HEAD + links)


def _describe_link(source: str) -> str:
    """Return the link; ``f/o!`` means the files of ``f/o`` without nulls."""
    names = source.replace("!", "")
    behind = ", linkMerge: merge_flattened" if names.startswith("[") else ""
    return f"{{source: {names}{behind}{', pickValue: all_non_null' if '!' in source else ''}}}"


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ("f/o!", "f/p!"),
        ("m/o", "m/p"),
        ("m/o", "g/o!"),
        ("files", "g/o!"),
        ("g/o!", "f/o!"),
        ("list/o", "list/p"),
        ("[f/o, f/o]!", "[f/p, f/p]!"),
    ],
)
def test_data_sets_with_the_same_numbers_can_be_paired(x: str, y: str) -> None:
    assert _list_reasons(x, y) == _list_reasons(y, x) == []


@pytest.mark.parametrize(
    ("x", "y", "why"),
    [
        ("g/o!", "g/p!", "different files were left out"),
        ("m/o", "g/p!", "different files were left out"),
        ("[f/o, g/o]!", "[f/p, g/p]!", "different files were left out"),
        ("f/o", "g/o", "there is no job for a number where all are missing"),
        ("g/o", "g/p", "there is no job for a number where all are missing"),
        ("files", "list/o", "have different numbers: the list that step 'list' writes"),
        ("m/o", "list/o", "have different numbers: the list that step 'list' writes"),
    ],
)
def test_data_sets_with_different_numbers_cannot_be_paired(x: str, y: str, why: str) -> None:
    for reasons in (_list_reasons(x, y), _list_reasons(y, x)):
        assert len(reasons) == 1
        assert why in reasons[0]
