#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: mt_items
label: mt-items
doc: |
  Candidates as files that people can be asked about, a text with a marked place each: all, or a
  sample, drawn by the seed, to which every site gives as many as it can.
baseCommand: mt-items
inputs:
  candidates:
    type: File[]
    label: Candidates
    doc: As mt-hours writes them.
  most:
    type: int
    default: 1000
    label: Items at most
    inputBinding: {prefix: --most}
  seed:
    type: int
    default: 1
    label: Seed
    inputBinding: {prefix: --seed}
arguments:
  - $(inputs.candidates)
  - {prefix: --out, valueFrom: items}
outputs:
  items:
    type: File[]
    label: Items, one file each
    outputBinding: {glob: "items/*.json"}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 1024, tmpdirMin: 16, outdirMin: 256}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
