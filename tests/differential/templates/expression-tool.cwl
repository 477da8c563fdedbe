# A step that chooses files with an expression, and a step with JavaScript in its inputs.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, StepInputExpressionRequirement: {}, InlineJavascriptRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  largest: {type: File, outputSource: choose/chosen}
  pages: {type: "File[]", outputSource: page/page}
steps:
  choose:
    in: {all: texts}
    out: [chosen]
    run:
      class: ExpressionTool
      requirements: {InlineJavascriptRequirement: {}}
      inputs: {all: "File[]"}
      outputs: {chosen: File}
      expression: |
        ${ var best = inputs.all[0]; inputs.all.forEach(function (f) { if (f.size > best.size) { best = f; } }); return {chosen: best}; }
  page:
    scatter: text
    in:
      text: texts
      big: choose/chosen
      words: {valueFrom: "${ return [inputs.text.nameroot, inputs.big.nameroot + '!', String(inputs.text.size * 2)]; }"}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs:
        text: File
        big: File
        words: {type: "string[]", inputBinding: {position: 1}}
      outputs: {page: stdout}
      stdout: $(inputs.text.nameroot).page
      requirements: {ToolTimeLimit: {timelimit: 60}}
