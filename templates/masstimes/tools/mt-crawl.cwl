#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
id: mt_crawl
label: mt-crawl
doc: |
  Crawls the sites of many parishes at the same time in one process. A site gets one request at a
  time, with a delay after each answer. With the known pages of an earlier run, the tool writes only
  pages that are new or have changed.
# A killed crawl resumes from these files, to which the tool only appends.
sluice:checkpoint: {files: [state/*], every: 6}
baseCommand: mt-crawl
inputs:
  parishes:
    type: File[]
    label: Parishes
    doc: 'JSON files with {"id", "name", "site"}. The output files are named after the id.'
  contact:
    type: string
    default: ""
    label: Contact for the owners of the sites
    doc: |
      The mail address or web page of the person who runs the crawl. The crawler sends it to each
      site. It may be empty only if all sites are on this machine.
    inputBinding: {prefix: --contact}
  at_once:
    type: int
    default: 100
    label: Number of parallel sites
    doc: The crawler crawls this number of sites at the same time.
    inputBinding: {prefix: --at-once}
  delays:
    type: double
    default: 1.0
    label: Factor for the delays between requests
    doc: All delays are multiplied by this factor. Values below 1 are for tests only.
    inputBinding: {prefix: --delays}
  depth:
    type: int
    default: 3
    label: Maximum depth
    doc: The crawler follows at most this number of links from the start page to a page.
    inputBinding: {prefix: --depth}
  max_pages:
    type: int
    default: 2000
    label: Maximum number of pages per site
    doc: The crawler requests at most this number of pages from a site.
    inputBinding: {prefix: --max-pages}
  timeout:
    type: double
    default: 60.0
    label: Timeout of a request in seconds
    doc: The crawler gives up a request whose answer takes longer.
    inputBinding: {prefix: --timeout}
  known:
    type: Directory?
    label: Known pages of the previous run
    doc: A folder with the files of the output known_pages of the previous run.
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
    label: Pages
    doc: JSON Lines files, one for each parish, with the HTML of its pages.
    outputBinding: {glob: "*.jsonl"}
  summaries:
    type: File[]
    label: Crawl summaries
    doc: JSON files, one for each parish, with numbers of pages, bytes and errors, and how it ended.
    outputBinding: {glob: "*.summary.json"}
  known_pages:
    type: File[]
    label: Known pages
    doc: JSON files about the pages that this run has seen. The next run reads them as input known.
    outputBinding: {glob: known-out/*.known.json}
requirements:
  NetworkAccess: {networkAccess: true}
  ResourceRequirement: {coresMin: 1, coresMax: 1, ramMin: 1024, tmpdirMin: 16, outdirMin: 4096}
  ToolTimeLimit: {timelimit: 172800}
permanentFailCodes: [64, 65]
