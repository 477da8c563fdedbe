#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: collage_concat
label: collage-concat
doc: |
  Pictures of one height side by side, from left to right in the order in which they are given. To
  join neighbours, and then what that gives, is the same as to join all at once, pixel by pixel.
  Pictures that collage-resize and collage-concat wrote are not decoded.
baseCommand: collage-concat
inputs:
  pictures:
    type: File[]
    label: Pictures
    doc: One at least, all of one height.
  name:
    type: string
    default: collage
    label: Name of the picture
  max_megapixels:
    type: float
    default: 150
    label: Largest image in megapixels
    doc: Larger pictures of other programs are refused before they are decoded.
    inputBinding: {prefix: --max-megapixels}
# A File[] with an inputBinding takes cwltool quadratic time; an argument does not.
arguments:
  - {prefix: --out, valueFrom: $(inputs.name).png}
  - $(inputs.pictures)
outputs:
  collage:
    type: File
    label: The picture
    outputBinding: {glob: $(inputs.name).png}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 256, tmpdirMin: 16, outdirMin: 2048}
  ToolTimeLimit: {timelimit: 900}
permanentFailCodes: [64, 65]
