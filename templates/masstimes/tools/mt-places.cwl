#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  urn: "urn:"
  cwltool: "http://commonwl.org/cwltool#"
id: mt_places
label: mt-places
doc: |
  Finds the site of a parish with a places API. The tool searches for name, place and street, and
  requests the details of the hits in their order until a hit has a site. If no hit has a site, it
  searches for name and place. The providers are Google's Places API in its classic form (google)
  and its new form (google-v1), and OpenStreetMap's Nominatim (nominatim), which needs neither
  details nor a key. If the quota is used up, the tool ends with exit code 75 and is retried. It
  ends with 76 if an answer does not follow the protocol, and with 77 if the key is refused.
baseCommand: mt-places
inputs:
  parish:
    type: File
    label: Parish
    doc: A JSON file with id, name, place and street, as mt-parishes writes it.
    inputBinding: {position: 1}
  provider:
    type: {type: enum, symbols: [google, google-v1, nominatim]}
    default: google
    label: Provider of the places API
    inputBinding: {prefix: --provider}
  api:
    type: string?
    label: Address of the API
    doc: Leave it empty to use the provider's public service.
    inputBinding: {prefix: --api}
  max_details:
    type: int
    default: 2
    label: Maximum number of details per search
    doc: The tool requests the details of at most this number of hits of a search.
    inputBinding: {prefix: --max-details}
  key:
    type: string
    label: API key
    doc: |
      In Sluice, the key is a secret. Other runners read it from the job order. Any text will do for
      nominatim.
  contact:
    type: string
    label: Contact for the API provider
    doc: A mail address or web page at which the provider of the API can reach you.
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
    label: Parish with its site
    doc: A JSON file for mt-crawl. It is missing if no site was found.
    outputBinding: {glob: "sites/*.json"}
  without:
    type: File
    label: Parish without a site
    doc: A JSON Lines file with the parish if no site was found, and empty otherwise.
    outputBinding: {glob: $(inputs.parish.nameroot).without.jsonl}
  requests:
    type: File
    label: Numbers of requests
    doc: A JSON file with the numbers of requests by kind.
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
