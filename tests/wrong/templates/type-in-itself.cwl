cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  SchemaDefRequirement:
    types:
    - {name: Leaf, type: record, fields: {of: Any}}
    - {name: Tree, type: record, fields: {leaf: Leaf, branches: "#Tree[]"}}
inputs: {texts: "File[]", tree: "#Tree"}
outputs:
  heads: {type: "File[]", outputSource: head/head}
steps:
  head:
    scatter: text
    in: {text: texts, tree: tree}
    out: [head]
    run:
      class: CommandLineTool
      baseCommand: head
      requirements: {ToolTimeLimit: {timelimit: 10}}
      inputs: {text: {type: File, inputBinding: {}}, tree: Tree}
      outputs: {head: stdout}
