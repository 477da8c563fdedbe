#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: ocr_volume
label: ocr-volume
doc: |
  Combines the pages of a volume in the order of the input. The tool writes the whole text, with a
  form feed after each page. It writes a METS file that names PAGE XML, ALTO and text of each page
  with their checksums. It also writes a table with the amount of text and the confidence of each
  page.
baseCommand: ocr-volume
inputs:
  name:
    type: string
    label: Name of the volume
    doc: The names of the output files begin with it.
    inputBinding: {prefix: --name}
  pages:
    type: File[]
    label: Transcribed pages
    doc: PAGE XML files, in the order of the pages.
  altos:
    type: File[]
    label: ALTO of the pages
    doc: ALTO files of the same pages, in the same order.
  texts:
    type: File[]
    label: Text of the pages
    doc: Text files of the same pages, in the same order.
# cwltool needs quadratic time for a File[] with an inputBinding, but not for an argument.
arguments: [--pages, $(inputs.pages), --altos, $(inputs.altos), --texts, $(inputs.texts)]
outputs:
  text:
    type: File
    label: Text of the volume
    doc: The text of all pages, with a form feed after each page.
    outputBinding: {glob: $(inputs.name).txt}
  mets:
    type: File
    label: METS of the volume
    doc: A METS file that names the files of each page, in order.
    outputBinding: {glob: $(inputs.name).mets.xml}
  confidences:
    type: File
    label: Confidences
    doc: A CSV file with one row for each page.
    outputBinding: {glob: $(inputs.name).confidences.csv}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 1024}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
