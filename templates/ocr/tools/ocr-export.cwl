#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: true
id: ocr_export
label: ocr-export
doc: |
  A transcribed page as ALTO 4 and as plain text: a line for each line, an empty one between
  regions. Boxes and confidences of words are those in the PAGE XML; no model is loaded.
baseCommand: ocr-export
inputs:
  page:
    type: File
    label: Transcribed page
    doc: PAGE XML, as ocr-transcribe writes it.
    inputBinding: {position: 1}
arguments:
  - {prefix: --alto, valueFrom: $(inputs.page.nameroot).alto.xml}
  - {prefix: --text, valueFrom: $(inputs.page.nameroot).txt}
outputs:
  alto:
    type: File
    doc: ALTO 4.
    outputBinding: {glob: $(inputs.page.nameroot).alto.xml}
  text:
    type: File
    doc: Plain text in UTF-8.
    outputBinding: {glob: $(inputs.page.nameroot).txt}
requirements:
  EnvVarRequirement: {envDef: {OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1"}}
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 64}
  ToolTimeLimit: {timelimit: 120}
permanentFailCodes: [64, 65]
