# One of two merging branches, chosen by a parameter; the first of several files; all existing files. Then a map over the
# chosen files, and outputs that are a choice themselves.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  MultipleInputFeatureRequirement: {}
  InlineJavascriptRequirement: {}
inputs:
  texts: File[]
  quick: boolean
outputs:
  chosen: {type: File, outputSource: [slow/joined, fast/joined], pickValue: first_non_null}
  all: {type: "File[]", outputSource: [slow/joined, mark/marked, list/listed], pickValue: all_non_null}
steps:
  fast:
    when: $(inputs.on)
    in: {parts: texts, on: quick}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {joined: stdout}
      stdout: fast.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  slow:
    when: $(!inputs.on)
    in: {parts: texts, on: quick}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: tac
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {joined: stdout}
      stdout: slow.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  mark:
    in:
      text: {source: [slow/joined, fast/joined], pickValue: the_only_non_null}
    out: [marked]
    run:
      class: CommandLineTool
      baseCommand: [wc, -l]
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {marked: stdout}
      stdout: $(inputs.text.nameroot).marked
      requirements: {ToolTimeLimit: {timelimit: 60}}
  list:
    in:
      parts: {source: [slow/joined, fast/joined, mark/marked], pickValue: all_non_null}
      first: {source: [slow/joined, fast/joined, mark/marked], pickValue: first_non_null}
    out: [listed]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.first), $(inputs.parts)]
      inputs: {parts: "File[]", first: File}
      outputs: {listed: stdout}
      stdout: listed.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
