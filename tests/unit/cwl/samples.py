"""Template texts for tests, and the mark that shows where a finding is expected."""

from sluice.contracts.templates.plan import Plan
from sluice.cwl import compile_template

LINEAR = """\
cwlVersion: v1.2
class: Workflow
doc: Counts and joins.
$namespaces:
  sluice: "urn:sluice:cwl:"
sluice:match: {sluice:type: raw, detector: spd}
requirements:
  ScatterFeatureRequirement: {}
inputs:
  frames: File[]
  limit:
    type: int
    default: 5
  note: string?
outputs:
  all:
    type: File
    outputSource: join/joined
steps:
  count:
    scatter: frame
    in:
      frame: frames
      limit: limit
    out: [number]
    sluice:boundary: {minimum: 0.9}
    run:
      class: CommandLineTool
      baseCommand: [head, -n]
      inputs:
        limit: {type: int, inputBinding: {position: 1}}
        frame: {type: File, inputBinding: {position: 2}}
      outputs:
        number: stdout
      requirements:
        ToolTimeLimit: {timelimit: 10}
  join:
    in:
      parts: count/number
      note: note
    out: [joined]
    sluice:merge: {files: 10}
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs:
        parts: File[]
        note: string?
      outputs:
        joined: stdout
      requirements:
        ToolTimeLimit: {timelimit: 10}
"""

#: Steps that read several data sets: pairs of files, the workflow's data set again, a single file
#: for all jobs, and two whole data sets.
GRAPH = """\
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
inputs:
  texts: File[]
outputs:
  page: {type: File, outputSource: report/page}
  both: {type: "File[]", outputSource: mark/marked}
steps:
  upper:
    scatter: text
    in: {text: texts}
    out: [big]
    run:
      class: CommandLineTool
      baseCommand: [tr, a-z, A-Z]
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {big: stdout}
      stdout: $(inputs.text.nameroot).upper
      requirements: {ToolTimeLimit: {timelimit: 60}}
  total:
    in: {parts: upper/big}
    out: [sum]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {sum: stdout}
      stdout: total.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  mark:
    scatter: [before, after]
    scatterMethod: dotproduct
    in: {total: total/sum, before: texts, after: upper/big}
    out: [marked]
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs:
        before: {type: File, inputBinding: {position: 1}}
        after: {type: File, inputBinding: {position: 2}}
        total: {type: File, inputBinding: {position: 3}}
      outputs: {marked: stdout}
      stdout: $(inputs.before.nameroot).marked
      requirements: {ToolTimeLimit: {timelimit: 60}}
  report:
    in: {marked: mark/marked, texts: texts, total: total/sum}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.total), $(inputs.marked), $(inputs.texts)]
      inputs: {marked: "File[]", texts: "File[]", total: File}
      outputs: {page: stdout}
      stdout: report.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
"""

#: A test puts this mark before each place that a finding must point at, once for each finding.
MARK = "¦"

#: A step that scatters over a list of values, a step that runs once, and a step that joins both.
OF_VALUES = """\
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {cuts: "int[]", note: string, words: File?}
outputs:
  all: {type: "File[]", outputSource: try/said}
  whole: {type: File, outputSource: join/said}
steps:
  try:
    scatter: cut
    in: {cut: cuts}
    out: [said]
    run: &echo
      class: CommandLineTool
      baseCommand: echo
      inputs: {cut: int?, note: string?, words: File?}
      outputs: {said: stdout}
      requirements: {ToolTimeLimit: {timelimit: 10}}
  once: {in: {note: note, words: words}, out: [said], run: *echo}
  join:
    in: {parts: try/said, first: once/said}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs: {parts: "File[]", first: File}
      outputs: {said: stdout}
      requirements: {ToolTimeLimit: {timelimit: 10}}
"""

#: A template with parameters of all kinds that forms have fields for.
OF_TYPES = """\
cwlVersion: v1.2
class: Workflow
requirements:
  SchemaDefRequirement:
    types:
      - name: library
        type: record
        fields:
          layout: {type: {type: enum, symbols: [single, paired]}}
          sizes: {type: "int[]?", doc: Lengths of the reads.}
      - name: sample
        type: record
        fields:
          label: {type: string, doc: Name on the tube.}
          control: boolean?
          library: {type: library}
inputs:
  sample: {type: sample, doc: The sample to process.}
  reference: sample?
  rows:
    type: {type: array, items: {type: record, fields: {name: string, value: int}}}
  cut: {type: [int, string], doc: Smallest number of hits or auto.}
  names: string[]
  level: {type: [{type: enum, symbols: [low, high]}], label: Level of detail}
  quick: boolean?
  window:
    type: {type: record, fields: {first: int, last: int}}
    default: {first: 1, last: 9}
  masked: {type: {type: record, fields: {label: string, mask: File?}}}
outputs: {said: {type: File, outputSource: say/said}}
steps:
  say:
    in:
      {sample: sample, reference: reference, rows: rows, cut: cut, names: names, level: level,
       quick: quick, window: window, masked: masked}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs:
        {sample: Any, reference: Any?, rows: Any, cut: Any, names: Any, level: Any, quick: Any?,
         window: Any, masked: Any}
      outputs: {said: stdout}
      requirements: {ToolTimeLimit: {timelimit: 10}}
"""


def edit_text(*edits: tuple[str, str], text: str = LINEAR) -> str:
    """Return ``text`` with the first occurrence of each edit's old text replaced."""
    for old, new in edits:
        assert old in text, f"{old!r} is not in the template"
        text = text.replace(old, new, 1)
    return text


def remove_marks(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without its marks, and the place (line, column) of each mark."""
    places: list[tuple[int, int]] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        parts = line.split(MARK)
        before = 0
        for part in parts[:-1]:
            before += len(part)
            places.append((number, before + 1))
    return text.replace(MARK, ""), places


def compile_plan(text: str) -> Plan:
    compiled = compile_template(text, name="t")
    assert compiled.plan is not None, "\n".join(map(str, compiled.findings))
    return compiled.plan


def remove_fields_of_steps(text: str) -> str:
    """Return the text of a template without the extension fields of its steps."""
    return "".join(
        line for line in text.splitlines(keepends=True) if not line.startswith("    sluice:")
    )


def list_reasons_against_spreading(text: str) -> list[str]:
    """Return why a valid workflow runs inside one job, or nothing if it is spread over jobs."""
    compiled = compile_template(text, name="t")
    assert compiled.plan is not None, "\n".join(map(str, compiled.errors))
    begin = "the whole workflow runs inside one job, because of this: "
    return [
        warning.message.removeprefix(begin)
        for warning in compiled.warnings
        if warning.message.startswith(begin)
    ]
