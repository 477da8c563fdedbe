#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:match: {sluice:type: mt-parishes}
sluice:bind: {contact: contact, delays: delays, timeout: timeout}
id: crawl
label: From parishes to what people can be asked about
doc: |
  The sites of parishes are crawled by one program for all. Of each parish every page becomes text;
  those that may have times of masses are kept; on these, whatever looks like a time is a candidate,
  and orders under headings are read as they are. A sample of the candidates, spread over the sites,
  is collected as items that people are asked about.
requirements:
  ScatterFeatureRequirement: {}
inputs:
  parishes:
    type: File[]
    label: Parishes with their sites, one JSON file each
  contact:
    type: string
    label: Whom the owner of a site can ask
    doc: |
      An address of mail or of a page. In Sluice what the data set's metadata say, and so delays and
      timeout, where they say any.
  known:
    type: Directory?
    label: What the run before knew of pages, as a folder of its known_pages
  delays:
    type: double
    default: 1.0
    label: What is waited between requests, as a part of what the rule says
  timeout:
    type: double
    default: 60.0
    label: Seconds for an answer
  most:
    type: int
    default: 1000
    label: Items at most
  seed:
    type: int
    default: 1
    label: Of the sample
outputs:
  pages:
    type: File[]
    label: Pages, one file for a parish
    outputSource: crawl/pages
  summaries:
    type: File[]
    label: How the crawl of each parish ended
    outputSource: crawl/summaries
  known_pages:
    type: File[]
    label: For the next run
    outputSource: crawl/known_pages
  candidates:
    type: File[]
    label: What may be a time
    outputSource: hours/candidates
  orders:
    type: File[]
    label: Times under headings
    outputSource: rules/orders
  items:
    type: File[]
    label: Candidates that people are asked about
    outputSource: items/items
    sluice:collect: mt-items
steps:
  crawl:
    run: tools/mt-crawl.cwl
    in: {parishes: parishes, contact: contact, known: known, delays: delays, timeout: timeout}
    out: [pages, summaries, known_pages]
  text:
    run: tools/mt-text.cwl
    scatter: pages
    in: {pages: crawl/pages}
    out: [texts]
  filter:
    run: tools/mt-filter.cwl
    scatter: pages
    in: {pages: text/texts}
    out: [wanted]
  hours:
    run: tools/mt-hours.cwl
    scatter: pages
    in: {pages: filter/wanted}
    out: [candidates]
  rules:
    run: tools/mt-rules.cwl
    scatter: pages
    in: {pages: filter/wanted}
    out: [orders]
  items:
    run: tools/mt-items.cwl
    in: {candidates: hours/candidates, most: most, seed: seed}
    out: [items]
