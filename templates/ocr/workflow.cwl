#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
id: document_ocr
label: Document OCR
doc: |
  From scanned pages to transcriptions: find the lines of each page, read them, write them as PAGE
  XML, ALTO and text, and put the pages of the volume together. Each page is worked on by itself; one
  that cannot be read costs itself alone.
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"

# Inner keys that are words of CWL carry the prefix too, or other runners would take them for their own.
sluice:match:
  sluice:type: scans
sluice:bind:
  volume: volume
  layout_config: asset:ocr-layout
  ocr_config: asset:ocr-model
# Small, and what is asked for when a page looks wrong.
sluice:retention:
  sluice:logs: keep

requirements:
  ScatterFeatureRequirement: {}

inputs:
  scans:
    type: File[]
    label: Scanned pages
    doc: The data set, a file for each page, in the order of the pages.
  layout_config:
    type: Directory
    label: Configuration of the layout
    doc: A folder with config.ini as pero-ocr reads it, and the models that it names.
  ocr_config:
    type: Directory
    label: Configuration of the transcription
    doc: A folder with config.ini as pero-ocr reads it, the JSON of the model, and the model.
  volume:
    type: string
    default: volume
    label: Name of the volume
    doc: What the files of the whole volume are called.
  max_megapixels:
    type: float
    default: 150
    label: Largest image in megapixels
    doc: Larger images are refused before they are decoded.

outputs:
  pages:
    type: File[]
    label: Transcribed pages
    doc: PAGE XML with text, words and confidences.
    outputSource: transcribe/page
  altos:
    type: File[]
    label: ALTO of the pages
    outputSource: export/alto
  texts:
    type: File[]
    label: Text of the pages
    outputSource: export/text
  text:
    type: File
    label: Text of the volume
    outputSource: volume_files/text
  mets:
    type: File
    label: METS of the volume
    doc: Names the files of each page, in order.
    outputSource: volume_files/mets
  confidences:
    type: File
    label: Confidences
    doc: A row for each page.
    outputSource: volume_files/confidences

steps:
  layout:
    label: Layout
    doc: Finds regions and lines. A file that is no page is given up at once.
    scatter: image
    in:
      image: scans
      config: layout_config
      max_megapixels: max_megapixels
    out: [layout]
    sluice:boundary: {minimum: 0.5, sufficient: 1.0}
    run: tools/ocr-layout.cwl

  transcribe:
    label: Transcribe
    doc: Reads the lines.
    scatter: [image, layout]
    scatterMethod: dotproduct
    in:
      image: scans
      layout: layout/layout
      config: ocr_config
      max_megapixels: max_megapixels
    out: [page]
    sluice:boundary: {minimum: 0.5, sufficient: 1.0}
    run: tools/ocr-transcribe.cwl

  export:
    label: Export
    doc: Writes ALTO and text.
    scatter: page
    in:
      page: transcribe/page
    out: [alto, text]
    sluice:boundary: {minimum: 0.5, sufficient: 1.0}
    run: tools/ocr-export.cwl

  volume_files:
    label: Put the volume together
    doc: Joins the texts, names all files in order, and tells how sure the model was of each page.
    in:
      name: volume
      pages: transcribe/page
      altos: export/alto
      texts: export/text
    out: [text, mets, confidences]
    run: tools/ocr-volume.cwl
