cwlVersion: v1.2
class: Workflow
requirements:
  InlineJavascriptRequirement: {}
  ScatterFeatureRequirement: {}
inputs:
  texts: File[]
  words: string[]
outputs:
  one: {type: "File[]", outputSource: one/said}
  two: {type: "File[]", outputSource: two/said}
  three: {type: "File[]", outputSource: three/said}
steps:
  some:
    scatter: text
    when: $(inputs.text.size > 10)
    in: {text: texts}
    out: [text]
    run:
      class: CommandLineTool
      baseCommand: cat
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {text: stdout}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  one:
    scatter: [text, word]
    scatterMethod: dotproduct
    in: {word: words, text: some/text}
    out: [said]
    run: &say
      class: CommandLineTool
      baseCommand: echo
      inputs: {word: {type: string, inputBinding: {position: 1}}, text: File?}
      outputs: {said: stdout}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  two:
    scatter: [text, word]
    scatterMethod: flat_crossproduct
    in: {word: words, text: some/text}
    out: [said]
    run: *say
  three:
    scatter: [first, word]
    scatterMethod: dotproduct
    in: {first: {default: [a, b, c]}, word: {default: [a, b]}}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {word: string, first: string}
      outputs: {said: stdout}
      requirements: {ToolTimeLimit: {timelimit: 60}}
