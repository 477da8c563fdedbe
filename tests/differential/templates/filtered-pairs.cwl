# Two outputs of one filter are paired, directly and after more steps, and so are two lists of one job.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, InlineJavascriptRequirement: {}, ToolTimeLimit: {timelimit: 60}}
inputs: {texts: "File[]"}
outputs:
  paired: {type: "File[]", outputSource: pair/both}
  afterwards: {type: "File[]", outputSource: later/both}
  of_lists: {type: "File[]", outputSource: listed/both}
steps:
  keep:
    scatter: text
    in: {text: texts}
    when: $(inputs.text.size > 10)
    out: [head, tail]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'head -n1 "$0" > "$1.head"; tail -n1 "$0" > "$1.tail"']
      inputs: {text: File}
      arguments: [$(inputs.text), $(inputs.text.nameroot)]
      outputs:
        head: {type: File, outputBinding: {glob: "*.head"}}
        tail: {type: File, outputBinding: {glob: "*.tail"}}
  pair:
    scatter: [one, two]
    scatterMethod: dotproduct
    in: {one: {source: keep/head, pickValue: all_non_null}, two: {source: keep/tail, pickValue: all_non_null}}
    out: [both]
    run: &both
      class: CommandLineTool
      baseCommand: cat
      inputs: {one: {type: File, inputBinding: {position: 1}}, two: {type: File, inputBinding: {position: 2}}}
      outputs: {both: stdout}
      stdout: $(inputs.one.nameroot).$(inputs.two.basename)
  turn:
    scatter: text
    in: {text: {source: keep/tail, pickValue: all_non_null}}
    out: [turned]
    run:
      class: CommandLineTool
      baseCommand: [tr, a-z, A-Z]
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {turned: stdout}
      stdout: $(inputs.text.nameroot).turned
  later:
    scatter: [one, two]
    scatterMethod: dotproduct
    in: {one: {source: keep/head, pickValue: all_non_null}, two: turn/turned}
    out: [both]
    run: *both
  lists:
    in: {texts: pair/both}
    out: [ones, twos]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'for n in 1 2 3; do echo "$n of $#" > one.$n; echo "$n too" > two.$n; done']
      inputs: {texts: "File[]"}
      arguments: [$(inputs.texts)]
      outputs:
        ones: {type: "File[]", outputBinding: {glob: "one.*"}}
        twos: {type: "File[]", outputBinding: {glob: "two.*"}}
  listed:
    scatter: [one, two]
    scatterMethod: dotproduct
    in: {one: lists/ones, two: lists/twos}
    out: [both]
    run: *both
