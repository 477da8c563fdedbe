#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
id: extract
label: From pages to what may be times of masses
doc: |
  Of each parish the pages as they were crawled, as JSON Lines. Every page becomes text; those that
  may have times of masses are kept; on these, whatever looks like a time is a candidate, with what
  stands around it, and orders under headings are read as they are.
requirements:
  ScatterFeatureRequirement: {}
inputs:
  pages:
    type: File[]
    label: Pages, one file for a parish
outputs:
  candidates:
    type: File[]
    label: What may be a time
    outputSource: hours/candidates
  orders:
    type: File[]
    label: Times under headings
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
