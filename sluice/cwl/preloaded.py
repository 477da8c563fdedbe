"""Preloading of the libraries for compilation, in the process that others are forked from."""

import atexit
import os
import shutil

from sluice.cwl.compiler import compile_template
from sluice.cwl.limited import ADDRESS_FOLDER

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
if folder := os.environ.pop(ADDRESS_FOLDER, None):
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
