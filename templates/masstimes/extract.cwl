#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
id: extract
label: Extraction of mass times from crawled pages
doc: |
  Reads the crawled pages of each parish from JSON Lines. Every page is converted to text, and the
  pages that may have mass times are kept. On these pages, everything that looks like a time becomes
  a candidate with its context, and rules read the mass schedules below headings.
requirements:
  ScatterFeatureRequirement: {}
inputs:
  pages:
    type: File[]
    label: Pages
    doc: JSON Lines files, one for each parish, with the HTML of its pages.
outputs:
  candidates:
    type: File[]
    label: Candidates
    doc: JSON Lines files, one for each parish, with the texts that may be mass times.
    outputSource: hours/candidates
  orders:
    type: File[]
    label: Mass schedules
    doc: JSON Lines files, one for each parish, with the mass times that the rules have read.
    outputSource: rules/orders
steps:
  text:
    run: tools/mt-text.cwl
    scatter: pages
    in: {pages: pages}
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
