cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, ToolTimeLimit: {timelimit: 60}}
inputs: {texts: "File[]"}
outputs:
  pairs: {type: "File[]", outputSource: pair/both}
  of_lists: {type: "File[]", outputSource: lists/both}
steps:
  cut:
    in: {texts: texts}
    out: [parts, tails]
    run: &cut
      class: CommandLineTool
      baseCommand: [split, -l, "1"]
      inputs: {texts: "File[]"}
      arguments: [$(inputs.texts)]
      outputs:
        parts: {type: "File[]", outputBinding: {glob: "x*"}}
        tails: {type: "File[]", outputBinding: {glob: "y*"}}
  again:
    in: {texts: texts}
    out: [parts]
    run: *cut
  pair:
    scatter: [text, part]
    scatterMethod: dotproduct
    in: {text: texts, part: cut/parts}
    out: [both]
    run: &both
      class: CommandLineTool
      baseCommand: cat
      inputs:
        text: {type: File, inputBinding: {position: 1}}
        part: {type: File, inputBinding: {position: 2}}
      outputs: {both: stdout}
  lists:
    scatter: [text, part, tail]
    scatterMethod: dotproduct
    in: {text: cut/parts, part: again/parts, tail: cut/tails}
    out: [both]
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs: {text: File, part: File, tail: File}
      outputs: {both: stdout}
