# A file that only expressions of the step use: its tool has no input for it.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, StepInputExpressionRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  names: {type: "File[]", outputSource: name/named}
  counts: {type: File, outputSource: count/counted}
steps:
  name:
    scatter: text
    in:
      text: texts
      name: {valueFrom: $(inputs.text.nameroot)}
    out: [named]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {name: {type: string, inputBinding: {position: 1}}}
      outputs: {named: stdout}
      stdout: $(inputs.name).name
      requirements: {ToolTimeLimit: {timelimit: 60}}
  count:
    in:
      all: name/named
      number: {valueFrom: $(inputs.all.length)}
    out: [counted]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {number: {type: int, inputBinding: {position: 1}}}
      outputs: {counted: stdout}
      stdout: count.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
