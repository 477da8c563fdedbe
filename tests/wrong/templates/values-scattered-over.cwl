cwlVersion: v1.2
class: Workflow
requirements:
  InlineJavascriptRequirement: {}
  ScatterFeatureRequirement: {}
  StepInputExpressionRequirement: {}
inputs:
  texts: File[]
  words: string[]?
  word: string
  steps: int[]
outputs:
  one: {type: "File[]", outputSource: one/said}
  two: {type: "File[]", outputSource: two/said}
  three: {type: "File[]", outputSource: three/said}
  four: {type: "File[]", outputSource: four/said}
  five: {type: "File[]", outputSource: five/said}
  six: {type: "File[]", outputSource: six/said}
steps:
  one:
    scatter: word
    in: {word: words}
    out: [said]
    run: &say
      class: CommandLineTool
      baseCommand: echo
      inputs: {word: {type: string, inputBinding: {position: 1}}}
      outputs: {said: stdout}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  two:
    scatter: word
    in: {word: word}
    out: [said]
    run: *say
  three:
    scatter: word
    in: {word: {default: alpha}}
    out: [said]
    run: *say
  four:
    scatter: word
    in: {word: {valueFrom: '$(["alpha", "beta"])'}}
    out: [said]
    run: *say
  five:
    scatter: word
    in: {word: steps}
    out: [said]
    run: *say
  six:
    scatter: word
    in: {word: {default: [alpha, 1]}}
    out: [said]
    run: *say
