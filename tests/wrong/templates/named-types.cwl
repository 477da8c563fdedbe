cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  SchemaDefRequirement:
    types:
    - {name: Mode, type: enum, symbols: [quiet, loud]}
    - {name: Mode, type: enum, symbols: [fast, slow]}
    - {name: Range, type: record, fields: {first: int, mode: Mod, inner: Inner}}
    - {name: Inner, type: record, fields: {a: int, b: {type: int}}}
inputs:
  texts: File[]
  mode: "#Mood?"
  range: {type: Range}
outputs:
  heads: {type: "File[]", outputSource: head/head}
steps:
  head:
    scatter: text
    in: {text: texts, mode: mode, range: range}
    out: [head]
    run:
      class: CommandLineTool
      baseCommand: head
      requirements:
        ToolTimeLimit: {timelimit: 10}
        SchemaDefRequirement: {types: [{name: "#Own", type: enum, symbols: [a]}]}
      inputs:
        text: {type: File, inputBinding: {}}
        mode: "#Own[]?"
        range: [string, "types.yml#Range"]
        own: {type: {type: array, items: "#On"}, default: []}
      outputs: {head: stdout}
