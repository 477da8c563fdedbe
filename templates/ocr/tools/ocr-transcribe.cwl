#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: {key: [config]}
id: ocr_transcribe
label: ocr-transcribe
doc: |
  What stands in the lines of a page: pero-ocr cuts the lines out of the image and reads them with
  the model of the configuration. Out comes PAGE XML with the text of every line, its words with
  their boxes, and how sure the model is of each. It uses the GPU that the job has, if it has one.
  A configuration that pero-ocr refuses, and a model whose characters are not those of its JSON,
  end it with exit code 78; a page that cannot be read, or lines of an image of another size, with
  65.
baseCommand: ocr-transcribe
inputs:
  image:
    type: File
    label: Scanned page
    inputBinding: {position: 1}
  layout:
    type: File
    label: Its lines
    doc: PAGE XML with lines and their baselines, as ocr-layout writes it.
    inputBinding: {position: 2}
  config:
    type: Directory
    label: Configuration of the transcription
    doc: config.ini as pero-ocr reads it, the JSON of the model, and the model.
    inputBinding: {prefix: --config}
  max_megapixels:
    type: float
    default: 150
    label: Largest image in megapixels
    inputBinding: {prefix: --max-megapixels}
arguments:
  - {prefix: --threads, valueFrom: $(runtime.cores)}
  - {prefix: --out, valueFrom: $(inputs.image.nameroot).xml}
outputs:
  page:
    type: File
    doc: PAGE XML with text, words and confidences.
    outputBinding: {glob: $(inputs.image.nameroot).xml}
requirements:
  EnvVarRequirement: {envDef: {OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1"}}
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 2048, tmpdirMin: 64, outdirMin: 64}
  ToolTimeLimit: {timelimit: 600}
permanentFailCodes: [64, 65, 78]
