#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: ocr_dummy
label: ocr-dummy
doc: |
  Takes size × scale seconds and a uniform random difference, never below 0, for a page that
  ocr-dummy-pages wrote, and hands it on with the time it took. The same page, stage and seed take
  the same time.
baseCommand: ocr-dummy
inputs:
  page:
    type: File
    label: Page
    doc: A size, and the stages that it has been through.
    inputBinding: {position: 1}
  stage:
    type: string
    label: Name of the stage
    inputBinding: {prefix: --stage}
  scale:
    type: float
    default: 1
    label: Seconds for a page of size 1
    inputBinding: {prefix: --scale}
  difference:
    type: float
    default: 0
    label: Seconds at most, more or less
    inputBinding: {prefix: --difference}
  faster:
    type: float
    default: 1
    label: How much faster than that
    doc: With 100 it waits a hundredth of the time, and writes down the whole.
    inputBinding: {prefix: --faster}
arguments:
  - {prefix: --out, valueFrom: $(inputs.page.nameroot).dummy}
outputs:
  done:
    type: File
    doc: The page with one stage more.
    outputBinding: {glob: $(inputs.page.nameroot).dummy}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 64, tmpdirMin: 1, outdirMin: 1}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
