#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: true
id: mt_filter
label: mt-filter
doc: |
  Pages that may have the times of masses: by the last part of their address, by the link that led
  to them, or by an order of masses in their text.
baseCommand: mt-filter
inputs:
  pages:
    type: File
    label: Pages
    doc: As HTML or as text.
    inputBinding: {position: 1}
arguments:
  - {prefix: --out, valueFrom: $(inputs.pages.nameroot).jsonl}
outputs:
  wanted:
    type: File
    label: Pages to look at
    outputBinding: {glob: $(inputs.pages.nameroot).jsonl}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 1024}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
