# Tools that describe their outputs in cwl.output.json.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  parts: {type: "File[]", outputSource: part/first}
  notes: {type: "string[]", outputSource: part/note}
steps:
  part:
    scatter: text
    in: {text: texts}
    out: [first, note]
    run:
      class: CommandLineTool
      requirements: {ToolTimeLimit: {timelimit: 60}}
      baseCommand: [sh, -c]
      arguments:
        - 'head -n1 "$0" > "$1.first"; printf "{\"first\": {\"class\": \"File\", \"path\": \"%s.first\"}, \"note\": \"of %s\"}" "$1" "$1" > cwl.output.json'
        - $(inputs.text)
        - $(inputs.text.nameroot)
      inputs: {text: File}
      outputs: {first: File, note: string}
