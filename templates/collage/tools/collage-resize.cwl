#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: collage_resize
label: collage-resize
doc: |
  Scales a photo, in any format that Pillow reads, to the given height. The tool keeps the aspect
  ratio and applies the EXIF orientation. It takes the first frame of an animation. The result is an
  8-bit sRGB image.
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
    label: Maximum image size in megapixels
    doc: Larger images are refused before they are decoded or scaled.
    inputBinding: {prefix: --max-megapixels}
arguments:
  - {prefix: --out, valueFrom: $(inputs.photo.nameroot).png}
outputs:
  picture:
    type: File
    label: Scaled picture
    doc: A PNG file of the given height.
    outputBinding: {glob: $(inputs.photo.nameroot).png}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 1024, tmpdirMin: 16, outdirMin: 512}
  ToolTimeLimit: {timelimit: 300}
permanentFailCodes: [64, 65]
