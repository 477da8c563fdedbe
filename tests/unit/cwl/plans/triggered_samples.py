"""Templates that a trigger starts, with any match rule."""

DATA = """cwlVersion: v1.2
class: Workflow
$namespaces: {{sluice: "urn:sluice:cwl:"}}
sluice:match: {match}
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs:
  frames: File[]
outputs:
  out: {{type: "File[]", outputSource: s/y, {output}}}
steps:
  s:
    scatter: x
    in: {{x: frames}}
    out: [y]
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs: {{x: {{type: File, inputBinding: {{}}}}}}
      outputs: {{y: stdout}}
"""

VALUES = """cwlVersion: v1.2
class: Workflow
$namespaces: {{sluice: "urn:sluice:cwl:"}}
sluice:match: {match}
inputs:
  n: {parameter}
outputs:
  out: {{type: File, outputSource: s/y}}
steps:
  s:
    in: {{n: n}}
    out: [y]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {{n: {{type: int, inputBinding: {{}}}}}}
      outputs: {{y: stdout}}
"""


def make_data_template(match: str, output: str = "sluice:collect: done") -> str:
    return DATA.format(match=match, output=output)


def make_values_template(match: str, parameter: str = "{type: int, default: 3}") -> str:
    return VALUES.format(match=match, parameter=parameter)
