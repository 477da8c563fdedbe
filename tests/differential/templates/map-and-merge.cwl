cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  counts: {type: "File[]", outputSource: count/words}
  all: {type: File, outputSource: join/all}
steps:
  count:
    scatter: text
    in: {text: texts}
    out: [words]
    run:
      class: CommandLineTool
      baseCommand: [wc, -w]
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {words: stdout}
      stdout: $(inputs.text.nameroot).words
      requirements: {ToolTimeLimit: {timelimit: 60}}
  join:
    in: {parts: count/words}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {all: stdout}
      stdout: all.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
