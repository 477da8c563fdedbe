#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: collage_concat
label: collage-concat
doc: |
  Puts pictures of equal height side by side, from left to right in the order of the input. Joining
  neighbours first and then the results gives the same pixels as joining all pictures at once.
  Pictures that collage-resize or collage-concat wrote are not decoded.
baseCommand: collage-concat
inputs:
  pictures:
    type: File[]
    label: Pictures
    doc: At least one picture. All pictures have the same height.
  name:
    type: string
    default: collage
    label: Name of the collage
    doc: The file name of the collage, without the extension .png.
  max_megapixels:
    type: float
    default: 150
    label: Maximum image size in megapixels
    doc: Larger pictures that other programs wrote are refused before they are decoded.
    inputBinding: {prefix: --max-megapixels}
# cwltool needs quadratic time for a File[] with an inputBinding, but not for an argument.
arguments:
  - {prefix: --out, valueFrom: $(inputs.name).png}
  - $(inputs.pictures)
outputs:
  collage:
    type: File
    label: Collage
    doc: A PNG file with all pictures side by side.
    outputBinding: {glob: $(inputs.name).png}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 256, tmpdirMin: 16, outdirMin: 2048}
  ToolTimeLimit: {timelimit: 900}
permanentFailCodes: [64, 65]
