# Inputs that join the values of parameters, choose among them, or have a default beside a source,
# and a step that scatters over files that are parameters.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  MultipleInputFeatureRequirement: {}
  InlineJavascriptRequirement: {}
  StepInputExpressionRequirement: {}
inputs:
  texts: File[]
  first: string?
  second: string
  numbers: int[]
  number: int
  left: File
  right: File
outputs:
  files: {type: "File[]", outputSource: files/said}
  each: {type: "File[]", outputSource: each/said}
  once: {type: File, outputSource: once/said}
steps:
  files:
    scatter: file
    in: {file: [left, right], number: number}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: wc
      inputs: {file: File, number: int}
      outputs: {said: stdout}
      stdin: $(inputs.file.path)
      stdout: $(inputs.file.basename).$(inputs.number)
      requirements: {ToolTimeLimit: {timelimit: 60}}
  each:
    scatter: text
    in:
      text: texts
      chosen: {source: [first, second], pickValue: first_non_null}
      present: {source: [first, second], pickValue: all_non_null}
      spare: {source: first, default: none given}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'echo "$@"; wc -c < "$0"']
      arguments: [$(inputs.text), $(inputs.chosen), $(inputs.present), $(inputs.spare)]
      inputs: {text: File, chosen: string, present: "string[]", spare: string}
      outputs: {said: stdout}
      stdout: $(inputs.text.nameroot).said
      requirements: {ToolTimeLimit: {timelimit: 60}}
  once:
    in:
      nested: {source: [number, number], linkMerge: merge_nested}
      flat: {source: [numbers, number], linkMerge: merge_flattened}
      single: {source: [numbers], linkMerge: merge_nested}
      counted: {source: [first, second], pickValue: the_only_non_null, valueFrom: $(self.length)}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: echo
      arguments: ["$(JSON.stringify([inputs.nested, inputs.flat, inputs.single, inputs.counted]))"]
      inputs: {nested: "int[]", flat: "int[]", single: Any, counted: int}
      outputs: {said: stdout}
      stdout: once.txt
      requirements: {ToolTimeLimit: {timelimit: 60}, InlineJavascriptRequirement: {}}
