#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: mt_items
label: mt-items
doc: |
  Writes candidates as items for annotators. An item is a text in which the time is marked. If there
  are too many candidates, the tool draws a random sample that is spread evenly over the sites.
baseCommand: mt-items
inputs:
  candidates:
    type: File[]
    label: Candidates
    doc: JSON Lines files, as mt-hours writes them.
  max_items:
    type: int
    default: 1000
    label: Maximum number of items
    doc: The sample has at most this number of items.
    inputBinding: {prefix: --limit}
  seed:
    type: int
    default: 1
    label: Random seed
    doc: The seed of the sample. Equal seeds give equal samples.
    inputBinding: {prefix: --seed}
arguments:
  - $(inputs.candidates)
  - {prefix: --out, valueFrom: items}
outputs:
  items:
    type: File[]
    label: Items
    doc: JSON files with one item each.
    outputBinding: {glob: "items/*.json"}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 1024, tmpdirMin: 16, outdirMin: 256}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
