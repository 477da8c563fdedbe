# A tool with three outputs: two globs and its standard error.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  odd: {type: "File[]", outputSource: part/odd}
  even: {type: "File[]", outputSource: part/even}
  said: {type: File, outputSource: join/all}
steps:
  part:
    scatter: text
    in: {text: texts}
    out: [odd, even, said]
    run:
      class: CommandLineTool
      requirements: {ShellCommandRequirement: {}, ToolTimeLimit: {timelimit: 60}}
      arguments:
      - {shellQuote: false, valueFrom: "awk 'NR % 2 {print > \"odd.txt\"; next} {print > \"even.txt\"} END {print NR > \"/dev/stderr\"}'"}
      - $(inputs.text.path)
      - {shellQuote: false, valueFrom: "&& touch odd.txt even.txt"}
      inputs: {text: File}
      outputs:
        odd: {type: File, outputBinding: {glob: odd.txt}}
        even: {type: File, outputBinding: {glob: "e*.txt"}}
        said: stderr
      stderr: lines.txt
  join:
    in: {parts: part/said}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {all: stdout}
      stdout: all.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
