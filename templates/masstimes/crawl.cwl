#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:match: {sluice:type: mt-parishes}
sluice:bind: {contact: contact, delays: delays, timeout: timeout}
id: crawl
label: Crawl of parish sites and extraction of mass times
doc: |
  One program crawls the sites of all parishes. Every page is converted to text, and the pages that
  may have mass times are kept. On these pages, everything that looks like a time becomes a
  candidate, and rules read the mass schedules below headings. A sample of the candidates, spread
  over the sites, becomes items for annotators.
requirements:
  ScatterFeatureRequirement: {}
inputs:
  parishes:
    type: File[]
    label: Parishes with their sites
    doc: JSON files with one parish each, as sites.cwl writes them.
  contact:
    type: string
    label: Contact for the owners of the sites
    doc: |
      The mail address or web page of the person who runs the crawl. The crawler sends it to each
      site. Sluice takes the value from the field contact of the data set's metadata. It takes
      delays and timeout from the fields of these names if they exist.
  known:
    type: Directory?
    label: Known pages of the previous run
    doc: |
      A folder with the files of the output known_pages of the previous run. The crawl writes only
      pages that are new or have changed since.
  delays:
    type: double
    default: 1.0
    label: Factor for the delays between requests
    doc: All delays are multiplied by this factor. Values below 1 are for tests only.
  timeout:
    type: double
    default: 60.0
    label: Timeout of a request in seconds
    doc: The crawler gives up a request whose answer takes longer.
  max_items:
    type: int
    default: 1000
    label: Maximum number of items
    doc: The sample has at most this number of items.
  seed:
    type: int
    default: 1
    label: Random seed
    doc: The seed of the sample. Equal seeds give equal samples.
outputs:
  pages:
    type: File[]
    label: Pages
    doc: JSON Lines files, one for each parish, with the HTML of its pages.
    outputSource: crawl/pages
  summaries:
    type: File[]
    label: Crawl summaries
    doc: JSON files, one for each parish, with numbers of pages, bytes and errors, and how it ended.
    outputSource: crawl/summaries
  known_pages:
    type: File[]
    label: Known pages
    doc: JSON files about the pages that this run has seen. The next run reads them as input known.
    outputSource: crawl/known_pages
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
  items:
    type: File[]
    label: Items for annotators
    doc: JSON files with one candidate each, for annotate.cwl.
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
    in: {candidates: hours/candidates, max_items: max_items, seed: seed}
    out: [items]
