#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
$namespaces:
  # Without a line of its own cwltool takes `urn` for an undeclared prefix and warns.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:bind: {key: secret:places-api}
id: sites
label: From parishes to their sites
doc: |
  Of each parish, as mt-parishes writes it, the site by a places API. A parish takes two searches at
  most, of ten units each, out of the limit `places`, which is over all nodes and full again each
  day: `sluice limit set places 1000/day`. What is left goes on by itself the next day.
requirements:
  ScatterFeatureRequirement: {}
inputs:
  parishes:
    type: File[]
    label: Parishes, one JSON file each
  api:
    type: string
    label: Address of the API
  key:
    type: string
    label: Its key
  contact:
    type: string
    label: Who asks
outputs:
  sites:
    type: File[]
    label: Parishes with their sites
    outputSource: places/site
    pickValue: all_non_null
  without:
    type: File[]
    label: Parishes without one
    outputSource: places/without
steps:
  places:
    run: tools/mt-places.cwl
    scatter: parish
    sluice:resources: {places: 20}
    in: {parish: parishes, api: api, key: key, contact: contact}
    out: [site, without]
