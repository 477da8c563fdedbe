#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
id: photo_collage
label: Photo collage
doc: |
  One picture of many photos: each is scaled to one height, and all stand side by side in the order
  of the data set. Two neighbours are joined, then what that gives, until one picture is left.
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"

# Inner keys that are words of CWL carry the prefix too, or other runners would take them for their own.
sluice:match:
  sluice:type: photos

requirements:
  ScatterFeatureRequirement: {}

inputs:
  photos:
    type: File[]
    label: Photos
    doc: The data set, in any formats that Pillow reads, in the order of the picture.
  height:
    type: int
    default: 200
    label: Height in pixels
    doc: Of the picture; widths follow from it.
  name:
    type: string
    default: collage
    label: Name of the picture
  max_megapixels:
    type: float
    default: 150
    label: Largest photo in megapixels
    doc: Larger ones are refused before they are decoded, or scaled.

outputs:
  collage:
    type: File
    label: The picture
    doc: PNG, all photos side by side.
    outputSource: concat/collage

steps:
  resize:
    label: Scale
    doc: Each photo by itself.
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
    doc: Two neighbours at a time, in a tree.
    in:
      pictures: resize/picture
      name: name
    out: [collage]
    sluice:merge: {files: 2, tree: true}
    run: tools/collage-concat.cwl
