# Outputs of a filter are paired with the files that they were made from, with missing ones.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, ToolTimeLimit: {timelimit: 60}}
inputs:
  texts: File[]
outputs:
  kept: {type: "File[]", outputSource: keep/kept, pickValue: all_non_null}
  shown: {type: "File[]", outputSource: show/shown}
  last: {type: File, outputSource: join/all}
steps:
  keep:
    scatter: text
    in: {text: texts}
    out: [kept]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'grep apple "$0" > "kept-$1" || rm "kept-$1"']
      inputs: {text: {type: File, inputBinding: {position: 1}}}
      arguments: [{position: 2, valueFrom: $(inputs.text.basename)}]
      outputs: {kept: {type: "File?", outputBinding: {glob: "kept-*"}}}
  show:
    scatter: [text, kept]
    scatterMethod: dotproduct
    in: {text: texts, kept: keep/kept}
    out: [shown]
    run:
      class: CommandLineTool
      baseCommand: [wc]
      inputs:
        text: File
        kept: File?
      stdin: $(inputs.text.path)
      arguments: ["-l"]
      stdout: $(inputs.text.nameroot)-shown.txt
      outputs: {shown: stdout}
  join:
    in: {parts: {source: keep/kept, pickValue: all_non_null}, shown: show/shown}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts), $(inputs.shown)]
      inputs: {parts: "File[]", shown: "File[]"}
      stdout: all.txt
      outputs: {all: stdout}
