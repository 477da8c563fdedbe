# Concatenated data sets: merged, scattered over, paired with others concatenated alike, and whole for every job; and
# single files as a list.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  MultipleInputFeatureRequirement: {}
inputs:
  texts: File[]
outputs:
  joined: {type: File, outputSource: join/joined}
  marked: {type: "File[]", outputSource: mark/marked}
  sums: {type: "File[]", outputSource: [join/joined, sum/sum]}
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
      stdout: big-$(inputs.text.basename)
      requirements: {ToolTimeLimit: {timelimit: 60}}
  count:
    scatter: text
    in: {text: {source: [texts, upper/big], linkMerge: merge_flattened}}
    out: [counted]
    run:
      class: CommandLineTool
      baseCommand: [wc, -l]
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {counted: stdout}
      stdout: $(inputs.text.basename).count
      requirements: {ToolTimeLimit: {timelimit: 60}}
  join:
    in: {parts: {source: [upper/big, texts, count/counted], linkMerge: merge_flattened}}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {joined: stdout}
      stdout: joined.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  sum:
    in: {parts: upper/big}
    out: [sum]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {sum: stdout}
      stdout: sum.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  mark:
    scatter: [text, count]
    scatterMethod: dotproduct
    in:
      text: {source: [texts, upper/big], linkMerge: merge_flattened}
      count: count/counted
      sums: [sum/sum, join/joined]
    out: [marked]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.text), $(inputs.count), $(inputs.sums)]
      inputs: {text: File, count: File, sums: "File[]"}
      outputs: {marked: stdout}
      stdout: $(inputs.text.basename).marked
      requirements: {ToolTimeLimit: {timelimit: 60}}
