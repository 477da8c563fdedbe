#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: {key: [model]}
id: mt_classify
label: mt-classify
doc: |
  Computes the probability that a candidate is a mass time, and decides whether it is.
baseCommand: mt-classify
inputs:
  candidates:
    type: File
    label: Candidates
    doc: A JSON Lines file, as mt-hours writes it.
    inputBinding: {position: 1}
  model:
    type: File
    label: Model
    doc: A model that mt-train wrote.
    inputBinding: {prefix: --model}
arguments:
  - {prefix: --out, valueFrom: $(inputs.candidates.nameroot).jsonl}
outputs:
  classified:
    type: File
    label: Classified candidates
    doc: A JSON Lines file of the candidates with the additional fields probability and mass.
    outputBinding: {glob: $(inputs.candidates.nameroot).jsonl}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 1024, tmpdirMin: 16, outdirMin: 256}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65, 69]
