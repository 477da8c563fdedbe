#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
id: train
label: From answers to a table of masses
doc: |
  Of candidates that people have answered a model is made, with its measures. It looks at all
  candidates; what it takes for masses and what the rules have found comes into one table.
requirements:
  ScatterFeatureRequirement: {}
inputs:
  answers:
    type: File[]
    label: Candidates with an answer, yes or no
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
  train:
    run: tools/mt-train.cwl
    in: {answers: answers, orders: orders, candidates: candidates, seed: seed}
    out: [model, measures]
  classify:
    run: tools/mt-classify.cwl
    scatter: candidates
    in: {candidates: candidates, model: train/model}
    out: [classified]
  table:
    run: tools/mt-table.cwl
    in: {orders: orders, candidates: classify/classified, parishes: parishes}
    out: [parquet, csv]
