# No data set: steps over lists of values, also as cross products, over a list that a step makes of a
# number, and steps that run once, on values and on a file that may be missing.
cwlVersion: v1.2
class: Workflow
requirements:
  InlineJavascriptRequirement: {}
  MultipleInputFeatureRequirement: {}
  ScatterFeatureRequirement: {}
  StepInputExpressionRequirement: {}
  SubworkflowFeatureRequirement: {}
inputs:
  counts: int[]
  words: string[]
  most: int
  title: {type: string, default: "a title"}
  note: File?
outputs:
  said: {type: "File[]", outputSource: say/said}
  pairs: {type: "File[]", outputSource: pair/said}
  joined: {type: File, outputSource: join/joined}
  numbers: {type: "int[]", outputSource: list/numbers}
  each: {type: "File[]", outputSource: each/said}
  headed: {type: "File[]", outputSource: head/said}
  heading: {type: File, outputSource: once/said}
  skipped: {type: File?, outputSource: skip/said}
  inner: {type: "File[]", outputSource: nested/all}
  sum: {type: int, outputSource: add/sum}
steps:
  say:
    scatter: [count, word]
    scatterMethod: dotproduct
    in: {count: counts, word: words}
    out: [said]
    run: &say
      class: CommandLineTool
      baseCommand: echo
      inputs:
        count: {type: int?, inputBinding: {position: 1}}
        word: {type: string?, inputBinding: {position: 2}}
        note: {type: File?, inputBinding: {position: 3}}
      outputs: {said: stdout}
      stdout: $(inputs.count).txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  pair:
    scatter: [word, count]
    scatterMethod: flat_crossproduct
    in: {count: counts, word: words}
    out: [said]
    run: *say
  join:
    in: {parts: say/said}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {joined: stdout}
      stdout: joined.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  list:                 # a list out of a number
    in: {most: most}
    out: [numbers]
    run:
      class: ExpressionTool
      inputs: {most: int}
      outputs: {numbers: "int[]"}
      expression: "${var found = []; for (var i = 1; i <= inputs.most; i++) found.push(i * i); return {numbers: found};}"
  each:
    scatter: count
    in: {count: list/numbers}
    out: [said]
    run: *say
  once:                 # on values alone
    in: {word: title, note: note}
    out: [said]
    run: *say
  head:                 # what came of the lists, each with what ran once
    scatter: part
    in: {part: say/said, head: once/said}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs:
        head: {type: File, inputBinding: {position: 1}}
        part: {type: File, inputBinding: {position: 2}}
      outputs: {said: stdout}
      stdout: headed-$(inputs.part.basename)
      requirements: {ToolTimeLimit: {timelimit: 60}}
  skip:
    when: $(inputs.count > 5)
    in: {count: most}
    out: [said]
    run: *say
  nested:               # its steps become steps
    in: {counts: counts, title: title}
    out: [all]
    run:
      class: Workflow
      inputs: {counts: "int[]", title: string}
      outputs: {all: {type: "File[]", outputSource: say/said}}
      steps:
        say:
          scatter: count
          in: {count: counts, word: title}
          out: [said]
          run: *say
  add:
    in: {numbers: list/numbers}
    out: [sum]
    run:
      class: ExpressionTool
      inputs: {numbers: "int[]"}
      outputs: {sum: int}
      expression: "${return {sum: inputs.numbers.reduce(function(a, b) {return a + b;})};}"
