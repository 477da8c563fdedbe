# Steps that scatter over lists of values: of parameters, of constants, of several lists by number, with
# the data set, with its outputs, and over values that other steps have produced.
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
requirements:
  InlineJavascriptRequirement: {}
  ScatterFeatureRequirement: {}
  StepInputExpressionRequirement: {}
inputs:
  texts: File[]
  counts: int[]
  shares: {type: "float[]", default: [0.5, 2.25, 3.0, 100000.0]}
  words: string[]
  pairs:
    type: {type: array, items: {type: array, items: string}}
  each: string[]
outputs:
  counted: {type: "int[]", outputSource: count/twice}
  said: {type: "File[]", outputSource: say/said}
  tried: {type: "File[]", outputSource: try/tried}
  joined: {type: File, outputSource: join/joined}
  labelled: {type: "File[]", outputSource: label/labelled}
  repeated: {type: "File[]", outputSource: again/labelled}
  listed: {type: "File[]", outputSource: list/listed}
  kept: {type: "File[]", outputSource: keep/labelled}
  over: {type: ["null", {type: array, items: ["null", string]}], outputSource: some/text}
steps:
  count:                # alone, and values come out
    scatter: number
    in: {number: counts}
    out: [twice]
    run:
      class: ExpressionTool
      inputs: {number: int}
      outputs: {twice: int}
      expression: "${return {twice: 2 * inputs.number};}"
  say:                  # a constant, several a job, each with all of the data set
    sluice:batch: {files: 2}
    scatter: word
    in:
      word: {default: [alpha, beta, gamma]}
      texts: texts
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'echo "$0"; cat "$@"']
      arguments: [$(inputs.word), $(inputs.texts)]
      inputs: {word: string, texts: "File[]"}
      outputs: {said: stdout}
      stdout: $(inputs.word).said
      requirements: {ToolTimeLimit: {timelimit: 60}}
  try:                  # two by number; one of them made into something else in each job
    scatter: [share, word]
    scatterMethod: dotproduct
    in:
      share: shares
      word: {source: words, valueFrom: "<$(self)>"}
    out: [tried]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs:
        share: {type: float, inputBinding: {position: 1}}
        word: {type: string, inputBinding: {position: 2}}
      outputs: {tried: stdout}
      stdout: try.$(inputs.share).txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  join:                 # what came of the values, in their order
    in: {parts: try/tried}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {joined: stdout}
      stdout: joined.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  label:                # with the data set, by number
    scatter: [label, text]
    scatterMethod: dotproduct
    in: {label: each, text: texts}
    out: [labelled]
    run: &label
      class: CommandLineTool
      baseCommand: [sh, -c, 'echo "$0"; cat "$1"']
      arguments: [$(inputs.label), $(inputs.text)]
      inputs: {label: string, text: File}
      outputs: {labelled: stdout}
      stdout: $(inputs.text.nameroot).$(inputs.label)
      requirements: {ToolTimeLimit: {timelimit: 60}}
  again:                # with what another step made of the data set, and the data set itself
    sluice:batch: {files: 4}
    scatter: [text, label]
    scatterMethod: dotproduct
    in: {label: each, text: label/labelled}
    out: [labelled]
    run: *label
  list:                 # each value is a list
    scatter: pair
    in: {pair: pairs}
    out: [listed]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {pair: {type: "string[]", inputBinding: {itemSeparator: "+"}}}
      outputs: {listed: stdout}
      stdout: $(inputs.pair[0]).list
      requirements: {ToolTimeLimit: {timelimit: 60}}
  keep:                 # what two steps over the same values gave, by number
    scatter: [label, text]
    scatterMethod: dotproduct
    in: {label: words, text: try/tried}
    out: [labelled]
    run: *label
  some:                 # passed over for some
    scatter: number
    when: $(inputs.number > 1)
    in: {number: counts}
    out: [text]
    run:
      class: ExpressionTool
      inputs: {number: int}
      outputs: {text: string}
      expression: '${return {text: "n" + inputs.number};}'
