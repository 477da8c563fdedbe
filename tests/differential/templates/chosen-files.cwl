# An expression over all files chooses some by size, and the following steps use only these.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, InlineJavascriptRequirement: {}}
inputs: {texts: "File[]", least: {type: int, default: 10}}
outputs:
  ends: {type: "File[]", outputSource: end/made}
  number: {type: int, outputSource: choose/number}
steps:
  choose:
    in: {texts: texts, least: least}
    out: [chosen, number]
    run:
      class: ExpressionTool
      requirements: {InlineJavascriptRequirement: {}}
      inputs: {texts: "File[]", least: int}
      outputs: {chosen: "File[]", number: int}
      expression: >
        ${ var kept = inputs.texts.filter(function (text) { return text.size >= inputs.least; });
           return {chosen: kept, number: kept.length}; }
  end:
    scatter: text
    in: {text: choose/chosen}
    out: [made]
    run:
      class: CommandLineTool
      requirements: {ToolTimeLimit: {timelimit: 60}}
      baseCommand: [tail, -n1]
      inputs: {text: {type: File, inputBinding: {}}}
      stdout: $(inputs.text.nameroot).end
      outputs: {made: stdout}
