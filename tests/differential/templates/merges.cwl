# Two merges of the same data set, a step that uses both results, and its result beside every file.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]", label: {type: string, default: both}}
outputs:
  both: {type: File, outputSource: both/made}
  tails: {type: "File[]", outputSource: tail/made}
steps:
  forward:
    in: {texts: texts}
    out: [made]
    run:
      class: CommandLineTool
      requirements: {ToolTimeLimit: {timelimit: 60}}
      baseCommand: cat
      arguments: [$(inputs.texts)]
      inputs: {texts: "File[]"}
      stdout: forward.txt
      outputs: {made: stdout}
  sorted:
    in: {texts: texts}
    out: [made]
    run:
      class: CommandLineTool
      requirements: {ToolTimeLimit: {timelimit: 60}, EnvVarRequirement: {envDef: {LC_ALL: C}}}
      baseCommand: sort
      arguments: [$(inputs.texts)]
      inputs: {texts: "File[]"}
      stdout: sorted.txt
      outputs: {made: stdout}
  both:
    in: {forward: forward/made, sorted: sorted/made, label: label}
    out: [made]
    run:
      class: CommandLineTool
      requirements: {ToolTimeLimit: {timelimit: 60}}
      baseCommand: cat
      inputs:
        forward: {type: File, inputBinding: {position: 1}}
        sorted: {type: File, inputBinding: {position: 2}}
        label: string
      stdout: $(inputs.label).txt
      outputs: {made: stdout}
  tail:
    scatter: text
    in: {text: texts, both: both/made}
    out: [made]
    run:
      class: CommandLineTool
      requirements: {ToolTimeLimit: {timelimit: 60}}
      baseCommand: [tail, -qn1]
      inputs:
        both: {type: File, inputBinding: {position: 1}}
        text: {type: File, inputBinding: {position: 2}}
      stdout: $(inputs.text.nameroot).tail
      outputs: {made: stdout}
