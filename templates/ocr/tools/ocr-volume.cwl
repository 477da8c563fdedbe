#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: ocr_volume
label: ocr-volume
doc: |
  The pages of a volume put together, in the order in which they are given: its whole text (a form
  feed behind each page), a METS file that names PAGE XML, ALTO and text of each page with their
  checksums, and a table with a row for each page: how much stands there, and how sure the model was.
baseCommand: ocr-volume
inputs:
  name:
    type: string
    label: Name of the volume
    doc: What its files are called.
    inputBinding: {prefix: --name}
  pages:
    type: File[]
    label: Transcribed pages
    doc: PAGE XML, in the order of the pages.
  altos:
    type: File[]
    label: ALTO of these pages
  texts:
    type: File[]
    label: Text of these pages
# A File[] with an inputBinding takes cwltool quadratic time; an argument does not.
arguments: [--pages, $(inputs.pages), --altos, $(inputs.altos), --texts, $(inputs.texts)]
outputs:
  text:
    type: File
    outputBinding: {glob: $(inputs.name).txt}
  mets:
    type: File
    outputBinding: {glob: $(inputs.name).mets.xml}
  confidences:
    type: File
    outputBinding: {glob: $(inputs.name).confidences.csv}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 1024}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
