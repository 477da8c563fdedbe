#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: mt_table
label: mt-table
doc: |
  Writes the results of the rules and the classifier to a table, as Parquet and as CSV. A row is a
  mass time of a parish on a kind of day in a season, with its source page and sentence. Equal
  inputs give equal files.
baseCommand: mt-table
inputs:
  orders:
    type: File[]
    label: Mass schedules
    doc: JSON Lines files, as mt-rules writes them.
  candidates:
    type: File[]
    label: Classified candidates
    doc: JSON Lines files, as mt-classify writes them.
  parishes:
    type: File[]?
    label: Parishes
    doc: JSON files with id and site, from which the tool fills the parish column.
arguments:
  - {prefix: --orders, valueFrom: $(inputs.orders)}
  - {prefix: --candidates, valueFrom: $(inputs.candidates)}
  - {prefix: --parishes, valueFrom: $(inputs.parishes)}
  - {prefix: --parquet, valueFrom: masses.parquet}
  - {prefix: --csv, valueFrom: masses.csv}
outputs:
  parquet:
    type: File
    label: Table of masses (Parquet)
    doc: The table as a Parquet file.
    outputBinding: {glob: masses.parquet}
  csv:
    type: File
    label: Table of masses (CSV)
    doc: The CSV file has the same rows as the Parquet file.
    outputBinding: {glob: masses.csv}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 1024, tmpdirMin: 16, outdirMin: 256}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
