# A step that runs on the single output of a merge, and a step that uses two such files.
cwlVersion: v1.2
class: Workflow
inputs: {texts: "File[]"}
outputs:
  packed: {type: File, outputSource: reverse/turned}
  page: {type: File, outputSource: both/page}
steps:
  join:
    in: {parts: texts}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {all: stdout}
      stdout: all.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  reverse:
    in: {text: join/all}
    out: [turned]
    run:
      class: CommandLineTool
      baseCommand: tac
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {turned: stdout}
      stdout: turned.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  both:
    in: {first: join/all, second: reverse/turned}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: [paste, -d, "|"]
      inputs:
        first: {type: File, inputBinding: {position: 1}}
        second: {type: File, inputBinding: {position: 2}}
      outputs: {page: stdout}
      stdout: both.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
