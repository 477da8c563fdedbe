# Numbers, texts, booleans and records as data sets: one of each job, and one of all.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, InlineJavascriptRequirement: {}, StepInputExpressionRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  lines: {type: "int[]", outputSource: count/lines}
  total: {type: int, outputSource: add/total}
  words: {type: "string[]", outputSource: add/words}
  doubled: {type: "File[]", outputSource: double/said}
  about: {type: {type: array, items: Any}, outputSource: describe/about}
  share: {type: "File[]", outputSource: share/said}
  each: {type: "string[]", outputSource: spell/spelt}
steps:
  count:
    scatter: text
    in: {text: texts}
    out: [lines]
    run:
      class: CommandLineTool
      baseCommand: [wc, -l]
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {lines: {type: int, outputBinding: {glob: n, loadContents: true, outputEval: "$(parseInt(self[0].contents))"}}}
      stdout: n
      requirements: {ToolTimeLimit: {timelimit: 60}, InlineJavascriptRequirement: {}}
  add:
    in: {numbers: count/lines}
    out: [total, words]
    run:
      class: ExpressionTool
      requirements: {InlineJavascriptRequirement: {}}
      inputs: {numbers: "int[]"}
      outputs: {total: int, words: "string[]"}
      expression: "${ return {total: inputs.numbers.reduce(function (a, b) { return a + b; }, 0), words: inputs.numbers.map(function (n) { return 'n' + n; })}; }"
  double:
    scatter: number
    in: {number: count/lines, total: add/total}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {number: {type: int, inputBinding: {}}, total: {type: int, inputBinding: {}}}
      outputs: {said: stdout}
      stdout: $(inputs.number).said
      requirements: {ToolTimeLimit: {timelimit: 60}}
  describe:
    scatter: [text, number]
    scatterMethod: dotproduct
    in: {text: texts, number: count/lines}
    out: [about]
    run:
      class: CommandLineTool
      baseCommand: [cp]
      inputs: {text: {type: File, inputBinding: {position: 1}}, number: int}
      arguments: [{valueFrom: copy, position: 2}]
      outputs:
        about:
          type:
            type: record
            fields:
              lines: {type: int, outputBinding: {outputEval: $(inputs.number)}}
              copy: {type: File, outputBinding: {glob: copy}}
              empty: {type: boolean, outputBinding: {outputEval: "$(inputs.number == 0)"}}
              half: {type: float, outputBinding: {outputEval: "$(inputs.number / 2)"}}
              nothing: {type: "string?", outputBinding: {outputEval: "$(null)"}}
      requirements: {ToolTimeLimit: {timelimit: 60}, InlineJavascriptRequirement: {}}
  share:
    scatter: about
    in:
      about: describe/about
      total: add/total
      line: {valueFrom: "$(inputs.about.lines) of $(inputs.total)"}
    out: [said]
    when: $(!inputs.about.empty)
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'echo "$2"; cat "$1"', sh]
      inputs:
        about:
          type:
            type: record
            fields:
              lines: int
              copy: {type: File, inputBinding: {position: 1}}
        line: {type: string, inputBinding: {position: 2}}
      outputs: {said: stdout}
      stdout: share.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  spell:
    scatter: word
    in: {word: add/words}
    out: [spelt]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {word: {type: string, inputBinding: {}}}
      outputs: {spelt: {type: string, outputBinding: {glob: w, loadContents: true, outputEval: "<$(self[0].contents)>"}}}
      stdout: w
      requirements: {ToolTimeLimit: {timelimit: 60}}
