#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:match: {sluice:type: mt-answers, every: {files: 1000, all: true}}
sluice:bind:
  candidates: asset:mt-candidates
  orders: asset:mt-orders
  parishes: asset:mt-parishes
id: train
label: From answers to a table of masses
doc: |
  Of what people have answered a model is made, with its measures. It looks at all candidates; what
  it takes for masses and what the rules have found comes into one table.
requirements:
  ScatterFeatureRequirement: {}
inputs:
  answers:
    type: File[]
    label: What people say of items, one file each
  candidates:
    type: File[]
    label: All candidates, one file for a parish
  orders:
    type: File[]
    label: Orders of masses, one file for a parish
  parishes:
    type: File[]
    label: Parishes with their sites
  seed:
    type: int
    default: 1
    label: Seed
outputs:
  model:
    type: File
    label: Model
    outputSource: train/model
  measures:
    type: File
    label: How good the model is
    outputSource: train/measures
  parquet:
    type: File
    label: Times of masses
    outputSource: table/parquet
  csv:
    type: File
    label: The same as text
    outputSource: table/csv
steps:
  answers:
    run: tools/mt-answers.cwl
    in: {answers: answers}
    out: [labelled]
  train:
    run: tools/mt-train.cwl
    in:
      answers: {source: [answers/labelled], linkMerge: merge_flattened}
      orders: orders
      candidates: candidates
      seed: seed
    out: [model, measures]
  join:
    in: {parts: candidates}
    out: [joined]
    run:
      class: CommandLineTool
      label: All candidates in one file
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {joined: stdout}
      stdout: candidates.jsonl
      requirements:
        ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 256, tmpdirMin: 16, outdirMin: 1024}
        ToolTimeLimit: {timelimit: 600}
  classify:
    run: tools/mt-classify.cwl
    in: {candidates: join/joined, model: train/model}
    out: [classified]
  table:
    run: tools/mt-table.cwl
    in:
      orders: orders
      candidates: {source: [classify/classified], linkMerge: merge_flattened}
      parishes: parishes
    out: [parquet, csv]
