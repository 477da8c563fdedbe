# Named types in this file: of parameters, in lists, nested, and of tools with and without their own types.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  SchemaDefRequirement:
    types:
    - {name: Kind, type: enum, symbols: [short, long]}
    - name: Range
      type: record
      fields:
        first: {type: int, inputBinding: {prefix: --first}}
        last: {type: "int?", inputBinding: {prefix: --last}}
    - name: Choice
      type: record
      fields:
      - {name: kind, type: Kind, inputBinding: {position: 1}}
      - {name: range, type: "#Range", inputBinding: {position: 2}}
inputs:
  texts: File[]
  choice: "#Choice"
  ranges: Range[]
  kind: {type: Kind, default: long}
  other: "#Kind?"
outputs:
  pages: {type: "File[]", outputSource: page/page}
steps:
  page:
    scatter: text
    in: {text: texts, choice: choice, ranges: ranges, kind: kind, other: other}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: echo
      arguments: [{position: 9, valueFrom: "$(inputs.text.basename) $(inputs.choice.range.first) $(inputs.ranges[1].last)"}]
      inputs:
        text: File
        choice: {type: Choice, inputBinding: {position: 1}}
        ranges: {type: "#Range[]", inputBinding: {position: 2, prefix: --range}}
        kind: {type: "#Kind", inputBinding: {position: 3}}
        other: {type: "#Kind?", inputBinding: {position: 4, prefix: --other}}
        fixed:
          type: {type: array, items: [Kind, int]}
          default: [short, 7]
          inputBinding: {position: 5}
      outputs: {page: stdout}
      stdout: $(inputs.text.nameroot).page
      requirements: {ToolTimeLimit: {timelimit: 60}}
