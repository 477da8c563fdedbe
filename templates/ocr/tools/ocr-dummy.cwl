#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: ocr_dummy
label: ocr-dummy
doc: |
  Waits size × scale seconds, plus a uniform random deviation, for a page that ocr-dummy-pages
  wrote. The time is never negative. The tool writes the page with its time added. The same page,
  stage and seed take the same time.
baseCommand: ocr-dummy
inputs:
  page:
    type: File
    label: Page
    doc: A file with the size of the page and the times of its earlier stages.
    inputBinding: {position: 1}
  stage:
    type: string
    label: Name of the stage
    doc: The name under which the time is added to the page.
    inputBinding: {prefix: --stage}
  scale:
    type: float
    default: 1
    label: Seconds for a page of size 1
    doc: Larger pages take proportionally longer.
    inputBinding: {prefix: --scale}
  difference:
    type: float
    default: 0
    label: Maximum random deviation in seconds
    doc: The time is up to this many seconds longer or shorter.
    inputBinding: {prefix: --difference}
  faster:
    type: float
    default: 1
    label: Speed-up factor
    doc: The wait is divided by this factor. The page gets the time without the factor.
    inputBinding: {prefix: --faster}
arguments:
  - {prefix: --out, valueFrom: $(inputs.page.nameroot).dummy}
outputs:
  done:
    type: File
    label: Processed page
    doc: The page with the time of this stage added.
    outputBinding: {glob: $(inputs.page.nameroot).dummy}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 64, tmpdirMin: 1, outdirMin: 1}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
