#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
id: document_ocr
label: Document OCR
doc: |
  Transcribes scanned pages. The workflow finds the lines of each page, reads them, writes them as
  PAGE XML, ALTO and text, and combines the pages to a volume. Pages are processed separately: a
  page that cannot be read does not affect the other pages.
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"

# Inner keys that are CWL keywords have the prefix too, so that other runners ignore them.
sluice:match:
  sluice:type: scans
sluice:bind:
  volume: volume
  layout_config: asset:ocr-layout
  ocr_config: asset:ocr-model
# The logs are small, and they help when a page looks wrong.
sluice:retention:
  sluice:logs: keep

requirements:
  ScatterFeatureRequirement: {}

inputs:
  scans:
    type: File[]
    label: Scanned pages
    doc: The image files of the data set, one for each page, in the order of the pages.
  layout_config:
    type: Directory
    label: Layout configuration
    doc: A folder with config.ini for pero-ocr and the models that it names.
  ocr_config:
    type: Directory
    label: Transcription configuration
    doc: A folder with config.ini for pero-ocr, the model and its JSON file.
  volume:
    type: string
    default: volume
    label: Name of the volume
    doc: The names of the files of the whole volume begin with it.
  max_megapixels:
    type: float
    default: 150
    label: Maximum image size in megapixels
    doc: Larger images are refused before they are decoded.

outputs:
  pages:
    type: File[]
    label: Transcribed pages
    doc: PAGE XML files with text, words and confidences.
    outputSource: transcribe/page
  altos:
    type: File[]
    label: ALTO of the pages
    doc: ALTO 4 files, one for each page.
    outputSource: export/alto
  texts:
    type: File[]
    label: Text of the pages
    doc: Plain text files, one for each page.
    outputSource: export/text
  text:
    type: File
    label: Text of the volume
    doc: The text of all pages, with a form feed after each page.
    outputSource: volume_files/text
  mets:
    type: File
    label: METS of the volume
    doc: A METS file that names the files of each page, in order.
    outputSource: volume_files/mets
  confidences:
    type: File
    label: Confidences
    doc: A CSV file with one row for each page.
    outputSource: volume_files/confidences

steps:
  layout:
    label: Layout
    doc: Finds regions and lines. A file that is not an image fails without a retry.
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
    label: Combine the volume
    doc: Joins the texts, lists all files in order, and writes the confidence of each page.
    in:
      name: volume
      pages: transcribe/page
      altos: export/alto
      texts: export/text
    out: [text, mets, confidences]
    run: tools/ocr-volume.cwl
