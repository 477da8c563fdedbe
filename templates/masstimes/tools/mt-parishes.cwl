#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
id: mt_parishes
label: mt-parishes
doc: |
  Reads parishes from tables on pages of dioceses, and follows the links to the next page. It sends
  one request at a time and obeys the site's robots.txt. A failed request is repeated after 2, 4,
  8 … seconds, or when the server says. Columns are found by the words of their headers. Rows
  without a name are left out and reported in the log. If a server stays down, the tool ends with
  exit code 75 and is retried.
baseCommand: mt-parishes
inputs:
  addresses:
    type: File
    label: Addresses
    doc: A text file with the address of the first page of a diocese on each line.
    inputBinding: {prefix: --addresses}
  contact:
    type: string
    label: Contact for the owners of the sites
    doc: A mail address or web page at which the owner of a site can reach you.
    inputBinding: {prefix: --contact}
  pause:
    type: float
    default: 1
    label: Pause between requests in seconds
    doc: The tool waits at least this long between two requests.
    inputBinding: {prefix: --pause}
  max_wait:
    type: float
    default: 300
    label: Maximum wait before a repeated request in seconds
    doc: The tool waits at most this long before it repeats a failed request.
    inputBinding: {prefix: --max-wait}
  repeats:
    type: int
    default: 8
    label: Maximum number of repeated requests
    doc: A failed request is repeated at most this number of times in a row.
    inputBinding: {prefix: --repeats}
arguments:
  - {prefix: --out, valueFrom: $(inputs.addresses.nameroot).csv}
  - {prefix: --split, valueFrom: parishes}
outputs:
  table:
    type: File
    label: Table of parishes
    doc: A CSV file with all parishes.
    outputBinding: {glob: $(inputs.addresses.nameroot).csv}
  parishes:
    type: File[]
    label: Parishes
    doc: JSON files with one parish each.
    outputBinding: {glob: "parishes/*.json"}
requirements:
  NetworkAccess: {networkAccess: true}
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 512, tmpdirMin: 16, outdirMin: 256}
  ToolTimeLimit: {timelimit: 86400}
permanentFailCodes: [64, 65, 69]
temporaryFailCodes: [75]
