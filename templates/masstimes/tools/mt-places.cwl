#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  urn: "urn:"
  cwltool: "http://commonwl.org/cwltool#"
id: mt_places
label: mt-places
doc: |
  The site of a parish, by a places API: its name, place and street are asked for, then name and
  place alone; the first hit that has a site counts. At most two searches. Where the quota is used
  up it ends with exit code 75, after which it is tried again; a key that is not taken ends it with
  77, an answer that is none with 76.
baseCommand: mt-places
inputs:
  parish:
    type: File
    label: Parish
    doc: JSON with id, name, place and street, as mt-parishes writes it.
    inputBinding: {position: 1}
  api:
    type: string
    label: Address of the API
    inputBinding: {prefix: --api}
  key:
    type: string
    label: Key of the API
    doc: In Sluice a secret; in other runners it stands in the job order.
  contact:
    type: string
    label: Who asks
    doc: An address of mail or of a page, by which who runs the API finds you.
    inputBinding: {prefix: --contact}
arguments:
  - {prefix: --cache, valueFrom: answers.jsonl}
  - {prefix: --out, valueFrom: sites}
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
hints:
  cwltool:Secrets: {secrets: [key]}
requirements:
  EnvVarRequirement: {envDef: {PLACES_KEY: $(inputs.key)}}
  NetworkAccess: {networkAccess: true}
  ResourceRequirement: {coresMin: 0.1, coresMax: 0.1, ramMin: 256, tmpdirMin: 16, outdirMin: 16}
  ToolTimeLimit: {timelimit: 3600}
permanentFailCodes: [64, 65, 69, 77]
temporaryFailCodes: [75, 76]
