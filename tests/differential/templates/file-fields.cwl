# Contents of files that an input of the workflow loads, for expressions of steps and of tools.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, InlineJavascriptRequirement: {}, StepInputExpressionRequirement: {}}
inputs:
  texts: {type: "File[]", loadContents: true}
  title: {type: File, loadContents: true}
outputs:
  told: {type: "File[]", outputSource: tell/told}
steps:
  tell:
    scatter: text
    in: {text: texts, title: title, first: {source: title, valueFrom: "$(self.contents.split(' ')[0])"}}
    out: [told]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {text: File, title: File, first: {type: string, inputBinding: {position: 1}}}
      arguments: [$(inputs.title.contents), $(inputs.text.contents.length)]
      outputs: {told: stdout}
      stdout: $(inputs.text.nameroot).told
      requirements: {InlineJavascriptRequirement: {}, ToolTimeLimit: {timelimit: 60}}
