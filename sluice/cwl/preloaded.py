"""Loads what compiling a template needs, once, in the process that others are forked from."""

from sluice.cwl.compiler import compile_template

_SMALLEST = """\
cwlVersion: v1.2
class: Workflow
inputs: {text: File}
outputs: {same: {type: File, outputSource: copy/same}}
steps:
  copy:
    in: {text: text}
    out: [same]
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {same: stdout}
"""

compile_template(_SMALLEST, name="smallest")
