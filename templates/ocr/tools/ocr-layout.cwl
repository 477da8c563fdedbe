#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: {key: [config]}
id: ocr_layout
label: ocr-layout
doc: |
  Where the text of a scanned page is: pero-ocr finds regions and lines by the configuration, which
  may name a model. Out comes PAGE XML with the regions in reading order and their lines, each with
  its baseline. A page without text has none, which is no error. A file that is no image, is cut
  off, or has more than max_megapixels is given up at once (exit code 65), a configuration that
  pero-ocr refuses as well (78).
baseCommand: ocr-layout
inputs:
  image:
    type: File
    label: Scanned page
    doc: PNG, JPEG, TIFF, JPEG 2000 or what else Pillow reads; of several pages in it the first.
    inputBinding: {position: 1}
  config:
    type: Directory
    label: Configuration of the layout
    doc: config.ini as pero-ocr reads it, and the models that it names.
    inputBinding: {prefix: --config}
  max_megapixels:
    type: float
    default: 150
    label: Largest image in megapixels
    doc: Larger ones are refused before they are decoded.
    inputBinding: {prefix: --max-megapixels}
arguments:
  - {prefix: --threads, valueFrom: $(runtime.cores)}
  - {prefix: --out, valueFrom: $(inputs.image.nameroot).layout.xml}
outputs:
  layout:
    type: File
    doc: PAGE XML with regions and lines.
    outputBinding: {glob: $(inputs.image.nameroot).layout.xml}
requirements:
  # NumPy and others would start a thread for each core of the node.
  EnvVarRequirement: {envDef: {OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1"}}
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 2048, tmpdirMin: 64, outdirMin: 64}
  ToolTimeLimit: {timelimit: 600}
permanentFailCodes: [64, 65, 78]
