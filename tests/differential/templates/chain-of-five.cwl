# Five consecutive steps, written in CWL v1.1 and out of order.
cwlVersion: v1.1
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs: {last: {type: "File[]", outputSource: e/next}}
steps:
  e:
    scatter: text
    in: {text: d/next}
    out: [next]
    run: {class: CommandLineTool, baseCommand: [tr, a, b], stdin: $(inputs.text.path), inputs: {text: File}, outputs: {next: stdout}, stdout: e.txt, requirements: {ToolTimeLimit: {timelimit: 60}}}
  c:
    scatter: text
    in: {text: b/next}
    out: [next]
    run: {class: CommandLineTool, baseCommand: [tr, c, d], stdin: $(inputs.text.path), inputs: {text: File}, outputs: {next: stdout}, stdout: c.txt, requirements: {ToolTimeLimit: {timelimit: 60}}}
  a:
    scatter: text
    in: {text: texts}
    out: [next]
    run: {class: CommandLineTool, baseCommand: [tr, d, e], stdin: $(inputs.text.path), inputs: {text: File}, outputs: {next: stdout}, stdout: a.txt, requirements: {ToolTimeLimit: {timelimit: 60}}}
  d:
    scatter: text
    in: {text: c/next}
    out: [next]
    run: {class: CommandLineTool, baseCommand: [tr, e, f], stdin: $(inputs.text.path), inputs: {text: File}, outputs: {next: stdout}, stdout: d.txt, requirements: {ToolTimeLimit: {timelimit: 60}}}
  b:
    scatter: text
    in: {text: a/next}
    out: [next]
    run: {class: CommandLineTool, baseCommand: [tr, f, g], stdin: $(inputs.text.path), inputs: {text: File}, outputs: {next: stdout}, stdout: b.txt, requirements: {ToolTimeLimit: {timelimit: 60}}}
