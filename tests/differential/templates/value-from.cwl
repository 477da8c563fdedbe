# Inputs of a step made of others: of a file's name, of a parameter, of a text.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, StepInputExpressionRequirement: {}}
inputs: {texts: "File[]", title: string}
outputs:
  pages: {type: "File[]", outputSource: page/page}
steps:
  page:
    scatter: text
    in:
      text: texts
      name: {valueFrom: $(inputs.text.basename)}
      title: {source: title, valueFrom: "<$(self)>"}
      fixed: {valueFrom: for ever}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs:
        text: {type: File}
        name: {type: string, inputBinding: {position: 1}}
        title: {type: string, inputBinding: {position: 2}}
        fixed: {type: string, inputBinding: {position: 3}}
      outputs: {page: stdout}
      stdout: $(inputs.name).page
      requirements: {ToolTimeLimit: {timelimit: 60}}
