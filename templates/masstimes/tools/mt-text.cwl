#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: true
id: mt_text
label: mt-text
doc: |
  Converts pages to the text that people read. It drops link targets, table borders, images,
  emphasis and list marks. The other fields of a line are kept.
baseCommand: mt-text
inputs:
  pages:
    type: File
    label: Pages
    doc: A JSON Lines file of crawled pages with their HTML, with one page per line.
    inputBinding: {position: 1}
arguments:
  - {prefix: --out, valueFrom: $(inputs.pages.nameroot).jsonl}
outputs:
  texts:
    type: File
    label: Pages as text
    doc: A JSON Lines file with one page per line.
    outputBinding: {glob: $(inputs.pages.nameroot).jsonl}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 1024}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
