#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: mt_measure
label: mt-measure
doc: |
  Computes recall, precision and F1 of a table of masses against sites whose mass times are known.
  It measures the rules, the classifier, and both together.
baseCommand: mt-measure
inputs:
  table:
    type: File
    label: Table
    doc: A Parquet or CSV file that mt-table wrote.
    inputBinding: {prefix: --table}
  truth:
    type: File
    label: Truth
    doc: A JSON file with the known mass times. Each of its sites has domain, sundays and weekdays.
    inputBinding: {prefix: --truth}
arguments:
  - {prefix: --out, valueFrom: measures.json}
outputs:
  measures:
    type: File
    label: Measures
    doc: A JSON file with recall, precision and F1.
    outputBinding: {glob: measures.json}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 16}
  ToolTimeLimit: {timelimit: 600}
permanentFailCodes: [64, 65]
