#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:warm: true
id: mt_hours
label: mt-hours
doc: |
  Finds the texts that may be mass times, with their context. It misses very few mass times, but
  many candidates are other times.
baseCommand: mt-hours
inputs:
  pages:
    type: File
    label: Pages
    doc: A JSON Lines file of pages as text, as mt-text or mt-filter writes it.
    inputBinding: {position: 1}
  around:
    type: int
    default: 150
    label: Context size in characters
    doc: The context of a candidate has this number of characters on each side of the time.
    inputBinding: {prefix: --around}
arguments:
  - {prefix: --out, valueFrom: $(inputs.pages.nameroot).jsonl}
outputs:
  candidates:
    type: File
    label: Candidates
    doc: A JSON Lines file with one candidate per line.
    outputBinding: {glob: $(inputs.pages.nameroot).jsonl}
requirements:
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 256}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65]
