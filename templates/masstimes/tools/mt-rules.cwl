#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: true
id: mt_rules
label: mt-rules
doc: |
  Reads mass times with their days and seasons. Rules look at the words beside a time and in the
  headings above it.
baseCommand: mt-rules
inputs:
  pages:
    type: File
    label: Pages
    doc: A JSON Lines file of pages as text, as mt-text or mt-filter writes it.
    inputBinding: {position: 1}
arguments:
  - {prefix: --out, valueFrom: $(inputs.pages.nameroot).jsonl}
outputs:
  orders:
    type: File
    label: Mass schedules
    doc: A JSON Lines file with the mass times and their days and seasons.
    outputBinding: {glob: $(inputs.pages.nameroot).jsonl}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 64}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
