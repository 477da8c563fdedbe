cwlVersion: v1.0
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs: {counts: {type: "File[]", outputSource: count/counted}}
steps:
  count: {scatter: text, in: {text: texts}, out: [counted], run: tool.cwl}
