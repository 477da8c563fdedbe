#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: {key: [config]}
id: ocr_transcribe
label: ocr-transcribe
doc: |
  Reads the lines of a page. pero-ocr cuts the lines out of the image and reads them with the model
  of the configuration. The tool writes PAGE XML with the text of every line, and the box and the
  confidence of each word. It uses the GPU of the job if there is one. The tool ends with exit code
  78 if pero-ocr refuses the configuration, or if the characters of the model differ from those in
  its JSON file. It ends with 65 if the page cannot be read, or if the lines belong to an image of
  another size.
baseCommand: ocr-transcribe
inputs:
  image:
    type: File
    label: Scanned page
    doc: The image from which ocr-layout found the lines.
    inputBinding: {position: 1}
  layout:
    type: File
    label: Layout of the page
    doc: A PAGE XML file with lines and their baselines, as ocr-layout writes it.
    inputBinding: {position: 2}
  config:
    type: Directory
    label: Transcription configuration
    doc: A folder with config.ini for pero-ocr, the model and its JSON file.
    inputBinding: {prefix: --config}
  max_megapixels:
    type: float
    default: 150
    label: Maximum image size in megapixels
    doc: Larger images are refused before they are decoded.
    inputBinding: {prefix: --max-megapixels}
arguments:
  - {prefix: --threads, valueFrom: $(runtime.cores)}
  - {prefix: --out, valueFrom: $(inputs.image.nameroot).xml}
outputs:
  page:
    type: File
    label: Transcribed page
    doc: A PAGE XML file with text, words and confidences.
    outputBinding: {glob: $(inputs.image.nameroot).xml}
requirements:
  EnvVarRequirement: {envDef: {OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1"}}
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 2048, tmpdirMin: 64, outdirMin: 64}
  ToolTimeLimit: {timelimit: 600}
permanentFailCodes: [64, 65, 78]
