#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: collage_resize
label: collage-resize
doc: |
  A photo, in any format that Pillow reads, scaled to a height; its aspect is kept, and its EXIF
  orientation obeyed. Of an animation it is the first picture. The result is 8-bit sRGB.
baseCommand: collage-resize
inputs:
  photo:
    type: File
    label: Photo
    inputBinding: {position: 1}
  height:
    type: int
    label: Height in pixels
    inputBinding: {prefix: --height}
  max_megapixels:
    type: float
    default: 150
    label: Largest image in megapixels
    doc: Larger images are refused before they are decoded, or scaled.
    inputBinding: {prefix: --max-megapixels}
arguments:
  - {prefix: --out, valueFrom: $(inputs.photo.nameroot).png}
outputs:
  picture:
    type: File
    label: Picture of this height
    outputBinding: {glob: $(inputs.photo.nameroot).png}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 1024, tmpdirMin: 16, outdirMin: 512}
  ToolTimeLimit: {timelimit: 300}
permanentFailCodes: [64, 65]
