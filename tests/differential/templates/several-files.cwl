cwlVersion: v1.2
class: Workflow
doc: Tools, a nested workflow, ports, a script and a default in files of their own.
requirements:
  ScatterFeatureRequirement: {}
  SubworkflowFeatureRequirement: {}
inputs:
  texts: File[]
outputs:
  joined: {type: File, outputSource: join/joined}
  shouted: {type: "File[]", outputSource: shout/shouted}
steps:
  shout:
    scatter: text
    in: {text: texts}
    out: [shouted]
    run: parts/shout.cwl
  number:
    scatter: text
    in: {text: shout/shouted}
    out: [numbered]
    run: parts/steps.cwl#twice
  join:
    in: {parts: number/numbered}
    out: [joined]
    run: parts/steps/join%20all.cwl
