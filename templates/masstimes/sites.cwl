#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
$namespaces:
  # Without this line, cwltool warns that the prefix `urn` is not declared.
  urn: "urn:"
  sluice: "urn:sluice:cwl:"
sluice:bind: {key: secret:places-api}
id: sites
label: Search for the sites of parishes
doc: |
  Finds the site of each parish with a places API. A parish needs at most two searches of ten units
  each, and two details of one unit each per search. Sluice reserves these 24 units of the limit
  `places` for a parish and returns the units that were not spent.
  The limit is valid for all nodes and is refilled each day: `sluice limit set places 1000/day`.
  Parishes beyond the limit wait for the next day.
requirements:
  ScatterFeatureRequirement: {}
inputs:
  parishes:
    type: File[]
    label: Parishes
    doc: JSON files with one parish each, as mt-parishes writes them.
  provider:
    type: {type: enum, symbols: [google, google-v1, nominatim]}
    default: google
    label: Provider of the places API
    doc: |
      Google's Places API in its classic form (google) or its new form (google-v1), or
      OpenStreetMap's Nominatim (nominatim).
  api:
    type: string?
    label: Address of the API
    doc: Leave it empty to use the provider's public service.
  key:
    type: string
    label: API key
    doc: Sluice takes it from the secret places-api. Any text will do for nominatim.
  contact:
    type: string
    label: Contact for the API provider
    doc: A mail address or web page at which the provider of the API can reach you.
outputs:
  sites:
    type: File[]
    label: Parishes with their sites
    doc: JSON files, one for each parish whose site was found, for crawl.cwl.
    outputSource: places/site
    pickValue: all_non_null
  without:
    type: File[]
    label: Parishes without a site
    doc: JSON Lines files, one for each parish, which are empty if a site was found.
    outputSource: places/without
  requests:
    type: File[]
    label: Numbers of requests
    doc: JSON files, one for each parish, with the numbers of requests by kind.
    outputSource: places/requests
steps:
  places:
    run: tools/mt-places.cwl
    scatter: parish
    sluice:resources: {places: 24}
    in: {parish: parishes, provider: provider, api: api, key: key, contact: contact}
    out: [site, without, requests]
