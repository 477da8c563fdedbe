#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: mt_parishes
label: mt-parishes
doc: |
  Parishes from tables on pages of dioceses, page by page as long as one calls the next. One request
  at a time, as the site's robots.txt allows; what fails is asked again after 2, 4, 8 … seconds, or when the server says. Columns are
  known by their names; rows without a name are told of in the log. A server that stays down ends it
  with exit code 75, after which it is tried again.
baseCommand: mt-parishes
inputs:
  addresses:
    type: File
    label: Addresses
    doc: The first page of a diocese on each line.
    inputBinding: {prefix: --addresses}
  contact:
    type: string
    label: Who asks
    doc: An address of mail or of a page, by which who runs a server finds you.
    inputBinding: {prefix: --contact}
  pause:
    type: float
    default: 1
    label: Seconds between two requests
    inputBinding: {prefix: --pause}
  max_wait:
    type: float
    default: 300
    label: Longest wait before a request is repeated
    inputBinding: {prefix: --max-wait}
  repeats:
    type: int
    default: 8
    label: Repeats of a request in a row
    inputBinding: {prefix: --repeats}
arguments:
  - {prefix: --out, valueFrom: $(inputs.addresses.nameroot).csv}
  - {prefix: --split, valueFrom: parishes}
outputs:
  table:
    type: File
    label: All parishes, CSV
    outputBinding: {glob: $(inputs.addresses.nameroot).csv}
  parishes:
    type: File[]
    label: A JSON file for each
    outputBinding: {glob: "parishes/*.json"}
requirements:
  NetworkAccess: {networkAccess: true}
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 256}
  ToolTimeLimit: {timelimit: 86400}
permanentFailCodes: [64, 65, 69]
temporaryFailCodes: [75]
