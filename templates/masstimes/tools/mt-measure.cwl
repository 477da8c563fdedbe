#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: mt_measure
label: mt-measure
doc: |
  Recall, precision and F1 of a table of masses, for the rules alone, the classifier alone and both,
  by sites and times that are known to be true.
baseCommand: mt-measure
inputs:
  table:
    type: File
    label: Table
    doc: As mt-table writes it, Parquet or CSV.
    inputBinding: {prefix: --table}
  truth:
    type: File
    label: Truth
    doc: JSON with sites, each with domain, sundays and weekdays.
    inputBinding: {prefix: --truth}
arguments:
  - {prefix: --out, valueFrom: measures.json}
outputs:
  measures:
    type: File
    label: Measures
    outputBinding: {glob: measures.json}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 16}
  ToolTimeLimit: {timelimit: 600}
permanentFailCodes: [64, 65]
