# Two data sets paired by number; one has gaps that the tool accepts.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  joined: {type: "File[]", outputSource: beside/both}
steps:
  keep:
    scatter: text
    in: {text: texts}
    out: [kept]
    run:
      class: CommandLineTool
      requirements: {ShellCommandRequirement: {}, ToolTimeLimit: {timelimit: 60}}
      arguments: [grep, -q, apple, $(inputs.text), {shellQuote: false, valueFrom: "&& cp"}, $(inputs.text), kept.txt, {shellQuote: false, valueFrom: "|| true"}]
      inputs: {text: File}
      outputs: {kept: {type: "File?", outputBinding: {glob: kept.txt}}}
  beside:
    scatter: [kept, text]
    scatterMethod: dotproduct
    in: {kept: keep/kept, text: texts}
    out: [both]
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs:
        text: {type: File, inputBinding: {position: 1}}
        kept: {type: "File?", inputBinding: {position: 2}}
      outputs: {both: stdout}
      stdout: both-$(inputs.text.basename)
      requirements: {ToolTimeLimit: {timelimit: 60}}
