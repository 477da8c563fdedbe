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
  Find the site of each parish, as mt-parishes writes it, by a places API. A parish takes at most two
  searches of ten units each and two details of one unit each for either, out of the limit `places`;
  what a parish did not need is given back.
  The limit holds over all nodes and is full again each day: `sluice limit set places 1000/day`. What
  is left goes on by itself the next day.
requirements:
  ScatterFeatureRequirement: {}
inputs:
  parishes:
    type: File[]
    label: Parishes, one JSON file each
  provider:
    type: {type: enum, symbols: [google, google-v1, nominatim]}
    default: google
    label: Provider of places
  api:
    type: string?
    label: Address of the API, where it is not the provider's public one
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
  requests:
    type: File[]
    label: Requests that were sent for each parish, by their kind
    outputSource: places/requests
steps:
  places:
    run: tools/mt-places.cwl
    scatter: parish
    sluice:resources: {places: 24}
    in: {parish: parishes, provider: provider, api: api, key: key, contact: contact}
    out: [site, without, requests]
