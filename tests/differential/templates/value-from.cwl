# Inputs of a step computed from others: from a file's name, a parameter, a text, or a default.
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
      tag: {default: {kind: marked}, valueFrom: $(self.kind)}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs:
        text: {type: File}
        name: {type: string, inputBinding: {position: 1}}
        title: {type: string, inputBinding: {position: 2}}
        fixed: {type: string, inputBinding: {position: 3}}
        tag: {type: string, inputBinding: {position: 4}}
      outputs: {page: stdout}
      stdout: $(inputs.name).page
      requirements: {ToolTimeLimit: {timelimit: 60}}
