#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: {key: [model]}
id: mt_classify
label: mt-classify
doc: |
  How probable it is that candidates are times of masses, and whether the model takes them for one.
baseCommand: mt-classify
inputs:
  candidates:
    type: File
    label: Candidates
    doc: As mt-hours writes them.
    inputBinding: {position: 1}
  model:
    type: File
    label: Model
    doc: As mt-train writes it.
    inputBinding: {prefix: --model}
arguments:
  - {prefix: --out, valueFrom: $(inputs.candidates.nameroot).jsonl}
outputs:
  classified:
    type: File
    label: The same, with probability and mass
    outputBinding: {glob: $(inputs.candidates.nameroot).jsonl}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 1024, tmpdirMin: 16, outdirMin: 256}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65, 69]
