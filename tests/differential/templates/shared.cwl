# Every job gets two whole data sets and a file that all share, also in a job with an expression.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  StepInputExpressionRequirement: {}
inputs:
  texts: File[]
outputs:
  ranked: {type: "File[]", outputSource: rank/ranked}
  counted: {type: "File[]", outputSource: count/counted}
steps:
  upper:
    scatter: text
    in: {text: texts}
    out: [big]
    run:
      class: CommandLineTool
      baseCommand: [tr, a-z, A-Z]
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {big: stdout}
      stdout: $(inputs.text.basename)
      requirements: {ToolTimeLimit: {timelimit: 60}}
  total:
    in: {parts: upper/big}
    out: [sum]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {sum: stdout}
      stdout: total.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  rank:
    scatter: text
    in: {total: total/sum, big: upper/big, texts: texts, text: texts}
    out: [ranked]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.text), $(inputs.big), $(inputs.texts), $(inputs.total)]
      inputs: {text: File, big: "File[]", texts: "File[]", total: File}
      outputs: {ranked: stdout}
      stdout: $(inputs.text.nameroot).ranked
      requirements: {ToolTimeLimit: {timelimit: 60}}
  count:
    scatter: text
    in:
      text: texts
      all: upper/big
      first: {source: upper/big, valueFrom: "$(self[0].basename)"}
    out: [counted]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.text), $(inputs.all)]
      inputs: {text: File, all: "File[]", first: string}
      outputs: {counted: stdout}
      stdout: $(inputs.text.nameroot)-$(inputs.first).counted
      requirements: {ToolTimeLimit: {timelimit: 60}}
