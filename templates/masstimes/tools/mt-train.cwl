#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: mt_train
label: mt-train
doc: |
  A model that tells times of masses from other times by what stands around them, learned of the
  answers that people gave. A fifth of the sites, drawn by the seed, is kept to measure on. Times
  that the rules are sure of are learned from, too. Answers of one kind alone, or of one site, end
  it with exit code 65; a node without torch with 69.
baseCommand: mt-train
inputs:
  answers:
    type: File[]
    label: Candidates with an answer
    doc: JSON Lines as mt-hours writes them, each with answer yes or no.
  orders:
    type: File[]?
    label: Orders of masses
    doc: As mt-rules writes them.
  candidates:
    type: File[]?
    label: Candidates without an answer
    doc: Those whose page and time are in orders are taken for masses.
  others:
    type: File[]?
    label: Candidates of any pages
    doc: So many, drawn by the seed, are taken for no masses as make both classes even.
  seed:
    type: int
    default: 1
    label: Seed
    inputBinding: {prefix: --seed}
arguments:
  - $(inputs.answers)
  - {prefix: --orders, valueFrom: $(inputs.orders)}
  - {prefix: --candidates, valueFrom: $(inputs.candidates)}
  - {prefix: --others, valueFrom: $(inputs.others)}
  - {prefix: --out, valueFrom: model.pt}
  - {prefix: --measures, valueFrom: measures.json}
  - {prefix: --state, valueFrom: state}
outputs:
  model:
    type: File
    label: Model
    outputBinding: {glob: model.pt}
  measures:
    type: File
    label: How good it is
    outputBinding: {glob: measures.json}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 2048, tmpdirMin: 64, outdirMin: 256}
  ToolTimeLimit: {timelimit: 7200}
permanentFailCodes: [64, 65, 69]
