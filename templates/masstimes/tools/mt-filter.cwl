#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: true
id: mt_filter
label: mt-filter
doc: |
  Keeps the pages that may have mass times. The last part of the address, the text of the link to
  the page, or a mass schedule in the text decides.
baseCommand: mt-filter
inputs:
  pages:
    type: File
    label: Pages
    doc: A JSON Lines file of pages as HTML or as text.
    inputBinding: {position: 1}
arguments:
  - {prefix: --out, valueFrom: $(inputs.pages.nameroot).jsonl}
outputs:
  wanted:
    type: File
    label: Pages that may have mass times
    doc: A JSON Lines file of the pages that were kept.
    outputBinding: {glob: $(inputs.pages.nameroot).jsonl}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 1024}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
