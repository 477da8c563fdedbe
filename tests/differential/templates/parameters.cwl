# Values of every kind: given, default and missing.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs:
  texts: File[]
  count: {type: int, default: 2}
  share: double
  loud: boolean
  words: string[]
  kind: {type: {type: enum, symbols: [short, long]}, default: long}
  note: string?
  size: int?
outputs:
  pages: {type: "File[]", outputSource: page/page}
steps:
  page:
    scatter: text
    in: {text: texts, count: count, share: share, loud: loud, words: words, kind: kind, note: note, size: size, fixed: {default: 7}}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: echo
      arguments: [{position: 9, valueFrom: "$(inputs.text.nameroot) of $(inputs.text.size) bytes"}]
      inputs:
        text: File
        count: {type: int, inputBinding: {position: 1, prefix: --count}}
        share: {type: double, inputBinding: {position: 2, prefix: --share=, separate: false}}
        loud: {type: boolean, inputBinding: {position: 3, prefix: --loud}}
        words: {type: "string[]", inputBinding: {position: 4, itemSeparator: ","}}
        kind: {type: {type: enum, symbols: [short, long]}, inputBinding: {position: 5}}
        note: {type: "string?", inputBinding: {position: 6, prefix: --note}}
        fixed: {type: int, inputBinding: {position: 7}}
        size: {type: int, default: 12, inputBinding: {position: 8}}
      outputs: {page: stdout}
      stdout: $(inputs.text.nameroot).page
      requirements: {ToolTimeLimit: {timelimit: 60}}
