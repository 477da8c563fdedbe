#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: mt_answers
label: mt-answers
doc: |
  Converts annotations of items of mt-items to candidates from which mt-train learns. Answers other
  than yes and no are left out.
baseCommand: mt-answers
inputs:
  answers:
    type: File[]
    label: Annotations
    doc: 'JSON files with {"answer", "item"}, as a human task writes them.'
arguments:
  - $(inputs.answers)
  - {prefix: --out, valueFrom: labelled.jsonl}
outputs:
  labelled:
    type: File
    label: Candidates with an answer
    doc: A JSON Lines file with the answer yes or no for each candidate.
    outputBinding: {glob: labelled.jsonl}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 256}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
