# A step that is skipped for some files.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, StepInputExpressionRequirement: {}, MultipleInputFeatureRequirement: {}}
inputs: {texts: "File[]", wanted: boolean}
outputs:
  heads: {type: "File[]", outputSource: head/top, pickValue: all_non_null}
  all: {type: File, outputSource: join/all}
steps:
  head:
    scatter: text
    in: {text: texts, wanted: wanted}
    when: $(inputs.wanted)
    out: [top]
    run:
      class: CommandLineTool
      baseCommand: [head, -n, "1"]
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {top: stdout}
      stdout: top.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  join:
    in: {parts: {source: head/top, pickValue: all_non_null}}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {all: stdout}
      stdout: all.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
