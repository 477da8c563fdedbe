cwlVersion: v1.2
class: CommandLineTool
requirements:
  SchemaDefRequirement: {types: [{$import: types/shared.yml}]}
  ToolTimeLimit: {timelimit: 60}
baseCommand: head
inputs:
  options: {type: "types/shared.yml#Options", inputBinding: {position: 1}}
  text: {type: File, inputBinding: {position: 2}}
outputs: {head: stdout}
stdout: $(inputs.text.nameroot).head
