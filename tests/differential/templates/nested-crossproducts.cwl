# Lists in lists, of numbers and of files, which a job that runs the whole workflow gives.
cwlVersion: v1.2
class: Workflow
requirements:
  InlineJavascriptRequirement: {}
  ScatterFeatureRequirement: {}
inputs: {texts: "File[]", counts: "int[]"}
outputs:
  sums:
    type: {type: array, items: {type: array, items: int}}
    outputSource: add/sum
  heads:
    type: {type: array, items: {type: array, items: File}}
    outputSource: head/lines
steps:
  add:
    scatter: [second, first]
    scatterMethod: nested_crossproduct
    in: {first: counts, second: {default: [10, 20, 30]}}
    out: [sum]
    run:
      class: ExpressionTool
      inputs: {first: int, second: int}
      outputs: {sum: int}
      expression: "${return {sum: inputs.first + inputs.second};}"
  head:
    scatter: [text, count]
    scatterMethod: nested_crossproduct
    in: {text: texts, count: counts}
    out: [lines]
    run:
      class: CommandLineTool
      baseCommand: head
      arguments: [-n, $(inputs.count), $(inputs.text)]
      inputs: {text: File, count: int}
      outputs: {lines: stdout}
      stdout: $(inputs.text.nameroot)-$(inputs.count)
      requirements: {ToolTimeLimit: {timelimit: 60}}
