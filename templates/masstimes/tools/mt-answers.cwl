#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: mt_answers
label: mt-answers
doc: |
  What people answered about items of mt-items, as candidates that mt-train learns from. Answers
  other than yes and no are left out.
baseCommand: mt-answers
inputs:
  answers:
    type: File[]
    label: Answers
    doc: 'JSON: {"answer", "item"}, as a step that asks people gives them.'
arguments:
  - $(inputs.answers)
  - {prefix: --out, valueFrom: labelled.jsonl}
outputs:
  labelled:
    type: File
    label: Candidates with an answer
    outputBinding: {glob: labelled.jsonl}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 256}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
