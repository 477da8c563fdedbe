#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: ocr_check_config
label: ocr-check-config
doc: |
  Can pero-ocr work with a configuration? It is loaded as the tools load it. Ends with exit code 78
  and a sentence of pero-ocr's, or of ours, where that fails: a method that is unknown, a model that
  is missing or is none, a model whose characters are not those of its JSON, lines that are cut
  otherwise than it wants them. Asked before a configuration is put in.
baseCommand: ocr-check-config
inputs:
  config:
    type: Directory
    label: Configuration
    doc: config.ini as pero-ocr reads it, and the models that it names.
    inputBinding: {position: 1}
stdout: loaded.txt
outputs:
  loaded:
    type: stdout
    doc: What was loaded, a line for each stage.
requirements:
  EnvVarRequirement: {envDef: {OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1"}}
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 2048, tmpdirMin: 64, outdirMin: 64}
  ToolTimeLimit: {timelimit: 300}
permanentFailCodes: [64, 78]
