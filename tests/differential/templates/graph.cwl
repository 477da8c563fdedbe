# Pairs by number, the first input used twice, one file for all jobs, and several whole data sets.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
inputs:
  texts: File[]
outputs:
  page: {type: File, outputSource: report/page}
  both: {type: "File[]", outputSource: mark/marked}
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
      stdout: $(inputs.text.nameroot).upper
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
  mark:
    scatter: [before, after]
    scatterMethod: dotproduct
    in: {total: total/sum, before: texts, after: upper/big}
    out: [marked]
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs:
        before: {type: File, inputBinding: {position: 1}}
        after: {type: File, inputBinding: {position: 2}}
        total: {type: File, inputBinding: {position: 3}}
      outputs: {marked: stdout}
      stdout: $(inputs.before.nameroot).marked
      requirements: {ToolTimeLimit: {timelimit: 60}}
  report:
    in: {marked: mark/marked, texts: texts, total: total/sum}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.total), $(inputs.marked), $(inputs.texts)]
      inputs: {marked: "File[]", texts: "File[]", total: File}
      outputs: {page: stdout}
      stdout: report.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
