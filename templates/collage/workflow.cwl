#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
id: photo_collage
label: Photo collage
doc: |
  Makes one picture of many photos. All photos are scaled to the same height and put side by side in
  the order of the data set. Neighbours are joined in pairs, then the results in pairs, until one
  picture is left.
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"

# Inner keys that are CWL keywords have the prefix too, so that other runners ignore them.
sluice:match:
  sluice:type: photos

requirements:
  ScatterFeatureRequirement: {}

inputs:
  photos:
    type: File[]
    label: Photos
    doc: The photos of the data set, in the order of the collage. Pillow must be able to read them.
  height:
    type: int
    default: 200
    label: Height in pixels
    doc: The height of the collage. The width of each photo follows from its aspect ratio.
  name:
    type: string
    default: collage
    label: Name of the collage
    doc: The file name of the collage, without the extension .png.
  max_megapixels:
    type: float
    default: 150
    label: Maximum photo size in megapixels
    doc: Larger photos are refused before they are decoded or scaled.

outputs:
  collage:
    type: File
    label: Collage
    doc: A PNG file with all photos side by side.
    outputSource: concat/collage

steps:
  resize:
    label: Scale
    doc: Scales each photo separately.
    scatter: photo
    in:
      photo: photos
      height: height
      max_megapixels: max_megapixels
    out: [picture]
    sluice:boundary: {minimum: 0.5, sufficient: 1.0}
    run: tools/collage-resize.cwl

  concat:
    label: Join
    doc: Joins two neighbours at a time, as a binary tree.
    in:
      pictures: resize/picture
      name: name
    out: [collage]
    sluice:merge: {files: 2, tree: true}
    run: tools/collage-concat.cwl
