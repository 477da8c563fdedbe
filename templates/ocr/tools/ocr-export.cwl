#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: true
id: ocr_export
label: ocr-export
doc: |
  Converts a transcribed page to ALTO 4 and to plain text. The text has one line for each line of
  the page, and an empty line between regions. Boxes and confidences of words come from the PAGE
  XML. The tool loads no model.
baseCommand: ocr-export
inputs:
  page:
    type: File
    label: Transcribed page
    doc: A PAGE XML file, as ocr-transcribe writes it.
    inputBinding: {position: 1}
arguments:
  - {prefix: --alto, valueFrom: $(inputs.page.nameroot).alto.xml}
  - {prefix: --text, valueFrom: $(inputs.page.nameroot).txt}
outputs:
  alto:
    type: File
    label: ALTO
    doc: The page as an ALTO 4 file.
    outputBinding: {glob: $(inputs.page.nameroot).alto.xml}
  text:
    type: File
    label: Text
    doc: The page as plain text in UTF-8.
    outputBinding: {glob: $(inputs.page.nameroot).txt}
requirements:
  EnvVarRequirement: {envDef: {OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1"}}
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 64}
  ToolTimeLimit: {timelimit: 120}
permanentFailCodes: [64, 65]
