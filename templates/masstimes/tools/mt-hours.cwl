#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: true
id: mt_hours
label: mt-hours
doc: |
  What may be a time of a mass, each with what stands around it: nearly none is left out, and many
  are none.
baseCommand: mt-hours
inputs:
  pages:
    type: File
    label: Pages
    doc: As text.
    inputBinding: {position: 1}
  around:
    type: int
    default: 150
    label: Characters of the context, to each side
    inputBinding: {prefix: --around}
arguments:
  - {prefix: --out, valueFrom: $(inputs.pages.nameroot).jsonl}
outputs:
  candidates:
    type: File
    label: Candidates
    outputBinding: {glob: $(inputs.pages.nameroot).jsonl}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 256}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
