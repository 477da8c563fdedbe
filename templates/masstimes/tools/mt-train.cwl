#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: mt_train
label: mt-train
doc: |
  Trains a model that distinguishes mass times from other times by their context. It learns from
  annotations and from mass times that the rules have found. A random fifth of the sites is not
  used for training, but to measure the model. The tool ends with exit code 65 if all answers are
  the same or come from one site, and with 69 if the node has no PyTorch.
baseCommand: mt-train
inputs:
  answers:
    type: File[]
    label: Candidates with an answer
    doc: JSON Lines files of candidates with the answer yes or no, as mt-answers writes them.
  orders:
    type: File[]?
    label: Mass schedules
    doc: JSON Lines files, as mt-rules writes them.
  candidates:
    type: File[]?
    label: Candidates without an answer
    doc: Candidates whose page and time are in the mass schedules become positive examples.
  others:
    type: File[]?
    label: Candidates for negative examples
    doc: A random sample of them becomes negative examples, so that both classes have equal sizes.
  seed:
    type: int
    default: 1
    label: Random seed
    doc: The seed of the split into training and test sites, and of the random samples.
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
    doc: The trained model, as a PyTorch file.
    outputBinding: {glob: model.pt}
  measures:
    type: File
    label: Model measures
    doc: A JSON file with recall, precision, accuracy and F1 of the model.
    outputBinding: {glob: measures.json}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 2048, tmpdirMin: 64, outdirMin: 256}
  ToolTimeLimit: {timelimit: 7200}
permanentFailCodes: [64, 65, 69]
