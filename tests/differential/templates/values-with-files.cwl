# Parameters with files in records, unions, optional lists and lists of lists, on steps that are
# spread over the data set, and on a step that runs once.
cwlVersion: v1.2
class: Workflow
requirements:
  InlineJavascriptRequirement: {}
  ScatterFeatureRequirement: {}
  StepInputExpressionRequirement: {}
inputs:
  texts: File[]
  sample:
    type:
      type: record
      name: Sample
      fields:
        - {name: label, type: string}
        - {name: reads, type: "File[]"}
  either: [string, File]
  other: [string, File]
  absent: "File[]?"
  given: {type: "File[]", default: []}
  rows: {type: {type: array, items: {type: array, items: File}}}
outputs:
  each: {type: "File[]", outputSource: each/said}
  once: {type: File, outputSource: once/said}
  sample_again: {type: Any, outputSource: again/value}
steps:
  each:
    scatter: text
    in: {text: texts, sample: sample, either: either}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.text), $(inputs.sample.reads), $(inputs.either)]
      inputs:
        text: File
        sample: Any
        either: [string, File]
      outputs: {said: stdout}
      stdout: $(inputs.text.nameroot).$(inputs.sample.label)
      requirements: {ToolTimeLimit: {timelimit: 60}}
  once:
    in: {other: other, absent: absent, given: given, rows: rows}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'echo "$0"; cat "$@"']
      arguments:
        - $(inputs.other)
        - $(inputs.rows[0])
        - $(inputs.rows[1])
        - $(inputs.given)
        - "$(inputs.absent ? inputs.absent : [])"
      inputs:
        other: [string, File]
        absent: "File[]?"
        given: "File[]"
        rows: {type: {type: array, items: {type: array, items: File}}}
      outputs: {said: stdout}
      stdout: once.txt
      requirements: {ToolTimeLimit: {timelimit: 60}, InlineJavascriptRequirement: {}}
  again:
    in: {value: sample}
    out: [value]
    run:
      class: ExpressionTool
      requirements: {InlineJavascriptRequirement: {}}
      inputs: {value: Any}
      outputs: {value: Any}
      expression: "$({value: inputs.value})"
