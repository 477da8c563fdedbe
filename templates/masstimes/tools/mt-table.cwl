#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: mt_table
label: mt-table
doc: |
  What the rules and the classifier found, as Parquet and as CSV. A row is a time of a parish on a
  kind of day in a season, with the page and the sentence that it comes from. Equal input makes
  equal files.
baseCommand: mt-table
inputs:
  orders:
    type: File[]
    label: Orders of masses
    doc: As mt-rules writes them.
  candidates:
    type: File[]
    label: Candidates
    doc: As mt-classify writes them.
  parishes:
    type: File[]?
    label: Parishes
    doc: JSON with id and site, for the column of parishes.
arguments:
  - {prefix: --orders, valueFrom: $(inputs.orders)}
  - {prefix: --candidates, valueFrom: $(inputs.candidates)}
  - {prefix: --parishes, valueFrom: $(inputs.parishes)}
  - {prefix: --parquet, valueFrom: masses.parquet}
  - {prefix: --csv, valueFrom: masses.csv}
outputs:
  parquet:
    type: File
    label: The table
    outputBinding: {glob: masses.parquet}
  csv:
    type: File
    label: The same as text
    outputBinding: {glob: masses.csv}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 1024, tmpdirMin: 16, outdirMin: 256}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
