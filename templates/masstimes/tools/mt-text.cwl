#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: true
id: mt_text
label: mt-text
doc: |
  The text of pages as people read it: links, tables, images, emphasis and the marks of lists
  dropped. JSON Lines, a page a line; everything else of a line stays.
baseCommand: mt-text
inputs:
  pages:
    type: File
    label: Pages
    doc: As they were crawled, with their HTML.
    inputBinding: {position: 1}
arguments:
  - {prefix: --out, valueFrom: $(inputs.pages.nameroot).jsonl}
outputs:
  texts:
    type: File
    label: Pages as text
    outputBinding: {glob: $(inputs.pages.nameroot).jsonl}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 1024}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
