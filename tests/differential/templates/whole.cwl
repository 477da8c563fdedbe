# Links that cannot be spread over data sets: the whole workflow runs inside one job.
cwlVersion: v1.2
class: Workflow
requirements:
  InlineJavascriptRequirement: {}
  StepInputExpressionRequirement: {}
  MultipleInputFeatureRequirement: {}
  ScatterFeatureRequirement: {}
inputs:
  texts: File[]
  word: {type: string, default: apple}
  sample:
    type:
      type: record
      name: Pages
      fields:
        - {name: pages, type: "File[]"}
outputs:
  nested: {type: {type: array, items: {type: array, items: File}}, outputSource: [count/counted, upper/big], linkMerge: merge_nested}
  sample_out: {type: Any, outputSource: sample}
  word_out: {type: string, outputSource: word}
  maybe: {type: File?, outputSource: skip/big}
steps:
  count:
    scatter: text
    in: {text: texts, word: word}
    out: [counted]
    run:
      class: CommandLineTool
      baseCommand: [grep, -c]
      successCodes: [0, 1]
      inputs:
        word: {type: string, inputBinding: {position: 1}}
        text: {type: File, inputBinding: {position: 2}}
      outputs: {counted: stdout}
      stdout: $(inputs.text.nameroot).count
      requirements: {ToolTimeLimit: {timelimit: 60}}
  upper:
    scatter: text
    in: {text: texts}
    out: [big]
    run: &upper
      class: CommandLineTool
      baseCommand: [tr, a-z, A-Z]
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {big: stdout}
      stdout: $(inputs.text.nameroot).upper
      requirements: {ToolTimeLimit: {timelimit: 60}}
  skip:
    in: {text: {source: texts, valueFrom: "$(self[0])"}, word: word}
    when: $(inputs.word == "pear")
    out: [big]
    run: *upper
