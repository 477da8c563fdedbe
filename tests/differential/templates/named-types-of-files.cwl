# Named types in separate files, single or in a list, which the workflow and its tools import separately.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  SchemaDefRequirement:
    types:
    - $import: parts/types/shared.yml
    - $import: parts/types/one.yml
    - {name: Mode, type: enum, symbols: [on, off]}
inputs:
  texts: File[]
  options: parts/types/shared.yml#Options
  label: {type: "parts/types/one.yml#Label", default: {text: L}}
  mode: {type: "#Mode", default: "on"}
outputs:
  notes: {type: "File[]", outputSource: note/note}
steps:
  head:
    scatter: text
    in: {text: texts, options: options}
    out: [head]
    run: parts/head.cwl
  note:
    scatter: text
    in: {text: head/head, label: label, mode: mode}
    out: [note]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs:
        text: File
        label: {type: "parts/types/one.yml#Label", inputBinding: {valueFrom: $(self.text)}}
        mode: {type: "#Mode", inputBinding: {position: 1}}
      arguments: [{position: 2, valueFrom: "$(inputs.text.basename) $(inputs.text.size)"}]
      outputs: {note: stdout}
      stdout: $(inputs.text.nameroot).note
      requirements: {ToolTimeLimit: {timelimit: 60}}
