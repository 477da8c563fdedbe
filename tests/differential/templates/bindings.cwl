# Values of every kind on a command line.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs:
  texts: File[]
  words: string[]
  share: double
  sizes: {type: "int[]", default: [3, 1]}
  level: {type: {type: enum, symbols: [low, high]}, default: low}
  loud: {type: boolean, default: true}
  quiet: {type: boolean, default: false}
  none: string?
outputs:
  said: {type: "File[]", outputSource: say/said}
steps:
  say:
    scatter: text
    in: {text: texts, words: words, share: share, sizes: sizes, level: level, loud: loud, quiet: quiet, none: none}
    out: [said]
    run:
      class: CommandLineTool
      requirements: {ToolTimeLimit: {timelimit: 60}}
      baseCommand: [printf, '%s|']
      inputs:
        text: {type: File, inputBinding: {position: 9, valueFrom: $(self.basename)}}
        words: {type: "string[]", inputBinding: {position: 1, prefix: --words, itemSeparator: ","}}
        share: {type: double, inputBinding: {position: 2, prefix: --share=, separate: false}}
        sizes: {type: {type: array, items: int, inputBinding: {prefix: -s}}, inputBinding: {position: 3}}
        level: {type: {type: enum, symbols: [low, high]}, inputBinding: {position: 4}}
        loud: {type: boolean, inputBinding: {position: 5, prefix: --loud}}
        quiet: {type: boolean, inputBinding: {position: 6, prefix: --quiet}}
        none: {type: "string?", inputBinding: {position: 7, prefix: --none}}
      arguments: [{position: 8, valueFrom: "a b\"c'd$e"}]
      stdout: $(inputs.text.nameroot).said
      outputs: {said: stdout}
