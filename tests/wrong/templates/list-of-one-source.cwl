cwlVersion: v1.2
class: Workflow
requirements: {MultipleInputFeatureRequirement: {}, ToolTimeLimit: {timelimit: 60}}
inputs: {texts: "File[]"}
outputs:
  nested: {type: "File[]", outputSource: join/all, linkMerge: merge_nested}
  flat: {type: "File[]", outputSource: join/rest, linkMerge: merge_flattened}
steps:
  join:
    in: {texts: texts}
    out: [all, rest]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.texts)]
      inputs: {texts: "File[]"}
      outputs: {all: stdout, rest: stderr}
