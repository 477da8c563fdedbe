# Two branches, one of which is skipped, and steps that run once on the outputs that exist: a file, a number, or nothing.
cwlVersion: v1.2
class: Workflow
requirements: {InlineJavascriptRequirement: {}, StepInputExpressionRequirement: {}, ToolTimeLimit: {timelimit: 60}}
inputs: {texts: "File[]", fast: boolean}
outputs:
  report: {type: File, outputSource: report/page}
  calm: {type: File, outputSource: say/page}
  never: {type: File?, outputSource: again/page}
  known: {type: File, outputSource: count/page}
steps:
  quick:
    in: {parts: texts, on: fast}
    when: $(inputs.on)
    out: [joined, number]
    run: &branch
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs:
        joined: stdout
        number: {type: int, outputBinding: {outputEval: $(inputs.parts.length)}}
      stdout: branch.txt
  slow:
    in: {parts: texts, on: fast}
    when: $(!inputs.on)
    out: [joined]
    run: *branch
  report:
    in: {quick: quick/joined, slow: slow/joined}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: [cat, /dev/null]
      inputs: {quick: {type: File?, inputBinding: {}}, slow: {type: File?, inputBinding: {}}}
      outputs: {page: stdout}
      stdout: report.txt
  say:
    in:
      quick: {source: quick/joined, valueFrom: "$(self === null ? 'nothing' : self.basename)"}
    out: [page]
    run: &echo
      class: CommandLineTool
      baseCommand: echo
      inputs: {quick: {type: [string, File], inputBinding: {}}}
      outputs: {page: stdout}
      stdout: calm.txt
  again:
    in: {quick: quick/joined}
    when: $(inputs.quick !== null)
    out: [page]
    run: *echo
  count:
    in: {number: quick/number}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {number: {type: int, default: 7, inputBinding: {}}}
      outputs: {page: stdout}
      stdout: number.txt
