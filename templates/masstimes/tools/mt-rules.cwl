#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: true
id: mt_rules
label: mt-rules
doc: |
  Times of masses with their days and seasons, by the words beside them and in the headings above.
baseCommand: mt-rules
inputs:
  pages:
    type: File
    label: Pages
    doc: As text.
    inputBinding: {position: 1}
arguments:
  - {prefix: --out, valueFrom: $(inputs.pages.nameroot).jsonl}
outputs:
  orders:
    type: File
    label: Orders of masses
    outputBinding: {glob: $(inputs.pages.nameroot).jsonl}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 64}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
