#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:match: {sluice:type: mt-answers, every: {files: 1000, all: true}}
sluice:bind:
  candidates: asset:mt-candidates
  orders: asset:mt-orders
  parishes: asset:mt-parishes
id: train
label: Training of the classifier and table of masses
doc: |
  Trains a classifier on the annotations and measures it. The classifier then classifies all
  candidates. The masses that the classifier or the rules have found are written to one table.
requirements:
  ScatterFeatureRequirement: {}
inputs:
  answers:
    type: File[]
    label: Annotations
    doc: JSON files with one item and its answer each, as annotate.cwl writes them.
  candidates:
    type: File[]
    label: Candidates
    doc: JSON Lines files, one for each parish, with all candidates of crawl.cwl or extract.cwl.
  orders:
    type: File[]
    label: Mass schedules
    doc: JSON Lines files, one for each parish, from the output orders of crawl.cwl or extract.cwl.
  parishes:
    type: File[]
    label: Parishes with their sites
    doc: JSON files, as sites.cwl writes them.
  seed:
    type: int
    default: 1
    label: Random seed
    doc: The seed of the split into training and test sites, and of the random samples.
outputs:
  model:
    type: File
    label: Model
    doc: The trained classifier, as a PyTorch file.
    outputSource: train/model
  measures:
    type: File
    label: Model measures
    doc: A JSON file with recall, precision, accuracy and F1 of the model.
    outputSource: train/measures
  parquet:
    type: File
    label: Table of masses (Parquet)
    doc: A row is a mass time of a parish on a kind of day in a season.
    outputSource: table/parquet
  csv:
    type: File
    label: Table of masses (CSV)
    doc: The CSV file has the same rows as the Parquet file.
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
      label: Concatenation of all candidates
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
