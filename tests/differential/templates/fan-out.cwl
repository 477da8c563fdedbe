# Two steps and the workflow itself use one output.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  sorted: {type: "File[]", outputSource: sort/sorted}
  heads: {type: "File[]", outputSource: head/cut}
  tails: {type: "File[]", outputSource: tail/cut}
steps:
  tail:
    scatter: text
    in: {text: sort/sorted}
    out: [cut]
    run:
      class: CommandLineTool
      baseCommand: [tail, -n, "1"]
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {cut: stdout}
      stdout: last-$(inputs.text.basename)
      requirements: {ToolTimeLimit: {timelimit: 60}}
  head:
    scatter: text
    in: {text: sort/sorted}
    out: [cut]
    run:
      class: CommandLineTool
      baseCommand: [head, -n, "1"]
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {cut: stdout}
      stdout: first-$(inputs.text.basename)
      requirements: {ToolTimeLimit: {timelimit: 60}}
  sort:
    scatter: text
    in: {text: texts}
    out: [sorted]
    run:
      class: CommandLineTool
      baseCommand: sort
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {sorted: stdout}
      stdout: $(inputs.text.basename)
      requirements: {EnvVarRequirement: {envDef: {LC_ALL: C}}, ToolTimeLimit: {timelimit: 60}}
