#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: {key: [config]}
id: ocr_layout
label: ocr-layout
doc: |
  Finds the text of a scanned page. pero-ocr finds regions and lines according to the configuration,
  which may name a model. The tool writes PAGE XML with the regions in reading order and their
  lines, each with its baseline. A page without text has no regions, which is not an error. The tool
  ends with exit code 65 if the file is not an image, is truncated, or has more than max_megapixels.
  It ends with 78 if pero-ocr refuses the configuration. Neither is retried.
baseCommand: ocr-layout
inputs:
  image:
    type: File
    label: Scanned page
    doc: |
      A PNG, JPEG, TIFF or JPEG 2000 file, or another format that Pillow reads. Only its first page
      is used.
    inputBinding: {position: 1}
  config:
    type: Directory
    label: Layout configuration
    doc: A folder with config.ini for pero-ocr and the models that it names.
    inputBinding: {prefix: --config}
  max_megapixels:
    type: float
    default: 150
    label: Maximum image size in megapixels
    doc: Larger images are refused before they are decoded.
    inputBinding: {prefix: --max-megapixels}
arguments:
  - {prefix: --threads, valueFrom: $(runtime.cores)}
  - {prefix: --out, valueFrom: $(inputs.image.nameroot).layout.xml}
outputs:
  layout:
    type: File
    label: Layout
    doc: A PAGE XML file with regions and lines.
    outputBinding: {glob: $(inputs.image.nameroot).layout.xml}
requirements:
  # NumPy and others would start a thread for each core of the node.
  EnvVarRequirement: {envDef: {OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1"}}
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 2048, tmpdirMin: 64, outdirMin: 64}
  ToolTimeLimit: {timelimit: 600}
permanentFailCodes: [64, 65, 78]
