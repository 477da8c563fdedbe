#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  urn: "urn:"
  cwltool: "http://commonwl.org/cwltool#"
id: mt_places
label: mt-places
doc: |
  Find the site of a parish by a places API: a text search for its name, place and street, then the
  details of the hits in their order until one has a site; without one, the same for name and place.
  Providers: Google's Places API in its classic (google) and its new form (google-v1), and
  OpenStreetMap's Nominatim (nominatim, which needs no details and no key). Where the quota is used
  up the tool ends with exit code 75, after which it is tried again; a key that is not accepted ends
  it with 77, an answer of another protocol with 76.
baseCommand: mt-places
inputs:
  parish:
    type: File
    label: Parish
    doc: JSON with id, name, place and street, as mt-parishes writes it.
    inputBinding: {position: 1}
  provider:
    type: {type: enum, symbols: [google, google-v1, nominatim]}
    default: google
    label: Provider
    inputBinding: {prefix: --provider}
  api:
    type: string?
    label: Address of the API
    doc: Of the provider's public service if nothing is said.
    inputBinding: {prefix: --api}
  max_details:
    type: int
    default: 2
    label: Hits of a search whose details are asked for
    inputBinding: {prefix: --max-details}
  key:
    type: string
    label: Key of the API
    doc: In Sluice a secret; in other runners it stands in the job order. Any text for nominatim.
  contact:
    type: string
    label: Who asks
    doc: An address of mail or of a page, by which who runs the API finds you.
    inputBinding: {prefix: --contact}
arguments:
  - {prefix: --cache, valueFrom: answers.jsonl}
  - {prefix: --out, valueFrom: sites}
  - {prefix: --requests, valueFrom: $(inputs.parish.nameroot).requests.json}
  - {prefix: --spent, valueFrom: sluice.spent.json}
  - {prefix: --without, valueFrom: $(inputs.parish.nameroot).without.jsonl}
outputs:
  site:
    type: File?
    label: The parish with its site
    doc: As mt-crawl reads it; none where no site was found.
    outputBinding: {glob: "sites/*.json"}
  without:
    type: File
    label: The parish, where no site was found
    outputBinding: {glob: $(inputs.parish.nameroot).without.jsonl}
  requests:
    type: File
    label: How many requests of each kind were sent
    outputBinding: {glob: $(inputs.parish.nameroot).requests.json}
hints:
  cwltool:Secrets: {secrets: [key]}
requirements:
  EnvVarRequirement: {envDef: {PLACES_KEY: $(inputs.key)}}
  NetworkAccess: {networkAccess: true}
  ResourceRequirement: {coresMin: 0.1, coresMax: 0.1, ramMin: 256, tmpdirMin: 16, outdirMin: 16}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65, 69, 77]
temporaryFailCodes: [75, 76]
