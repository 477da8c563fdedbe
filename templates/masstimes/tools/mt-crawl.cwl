#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
id: mt_crawl
label: mt-crawl
doc: |
  The pages of parishes, one spider for each, many at once in one process: one request at a time to
  a site, and the next when the site has had its rest. With what an earlier run knew of pages, only
  those that are new or have changed.
# A crawl that was killed goes on from these, files that are only ever added to.
sluice:checkpoint: {files: [state/*], every: 6}
baseCommand: mt-crawl
inputs:
  parishes:
    type: File[]
    label: Parishes
    doc: 'JSON: {"id", "name", "site"}; the id names what is written.'
  contact:
    type: string
    default: ""
    label: Whom the owner of a site can ask
    doc: An address of mail or of a page, which sites are told. Left out for this machine alone.
    inputBinding: {prefix: --contact}
  at_once:
    type: int
    default: 100
    label: Sites at a time
    inputBinding: {prefix: --at-once}
  delays:
    type: double
    default: 1.0
    label: What is waited, as a part of what the rule says
    inputBinding: {prefix: --delays}
  depth:
    type: int
    default: 3
    label: Links from the start page
    inputBinding: {prefix: --depth}
  most_pages:
    type: int
    default: 2000
    label: Pages of a site
    inputBinding: {prefix: --most-pages}
  timeout:
    type: double
    default: 60.0
    label: Seconds for an answer
    inputBinding: {prefix: --timeout}
  known:
    type: Directory?
    label: What the run before knew of pages
    doc: A folder with its known_pages.
    inputBinding: {position: 2, prefix: --known}
arguments:
  - $(inputs.parishes)
  - {prefix: --out, valueFrom: .}
  - {prefix: --state, valueFrom: state}
  - {prefix: --state-every, valueFrom: "3"}
  - {prefix: --known-out, valueFrom: known-out}
outputs:
  pages:
    type: File[]
    label: Pages, one file for a parish
    outputBinding: {glob: "*.jsonl"}
  summaries:
    type: File[]
    label: How each crawl ended
    outputBinding: {glob: "*.summary.json"}
  known_pages:
    type: File[]
    label: What the next run should know of pages
    outputBinding: {glob: known-out/*.known.json}
requirements:
  NetworkAccess: {networkAccess: true}
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 1024, tmpdirMin: 16, outdirMin: 4096}
  ToolTimeLimit: {timelimit: 172800}
permanentFailCodes: [64, 65]
