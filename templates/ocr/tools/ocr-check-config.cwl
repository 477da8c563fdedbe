#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: ocr_check_config
label: ocr-check-config
doc: |
  Checks that pero-ocr accepts a configuration, before it is uploaded. The tool loads it in the same
  way as the other tools. It ends with exit code 78 and an error message if a method is unknown, a
  model is missing or invalid, the characters of a model differ from those in its JSON file, or the
  lines are not cut as the model expects.
baseCommand: ocr-check-config
inputs:
  config:
    type: Directory
    label: Configuration
    doc: A folder with config.ini for pero-ocr and the models that it names.
    inputBinding: {position: 1}
stdout: loaded.txt
outputs:
  loaded:
    type: stdout
    label: Loaded stages
    doc: A text file with one line for each stage that was loaded.
requirements:
  EnvVarRequirement: {envDef: {OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1"}}
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 2048, tmpdirMin: 64, outdirMin: 64}
  ToolTimeLimit: {timelimit: 300}
permanentFailCodes: [64, 78]
