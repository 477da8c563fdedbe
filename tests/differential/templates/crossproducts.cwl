# Cross products row by row: of values, of the data set and values, of two data sets, and of three.
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
requirements:
  InlineJavascriptRequirement: {}
  ScatterFeatureRequirement: {}
inputs: {texts: "File[]", counts: "int[]", words: "string[]", none: "string[]"}
outputs:
  sums: {type: "int[]", outputSource: add/sum}
  found: {type: "File[]", outputSource: find/found}
  pairs: {type: "File[]", outputSource: pair/found}
  joined: {type: File, outputSource: join/joined}
  seen: {type: "File[]", outputSource: see/found}
  none_given: {type: "int[]", outputSource: nothing/sum}
steps:
  add:
    scatter: [first, second]
    scatterMethod: flat_crossproduct
    in: {first: counts, second: {default: [10, 20, 30]}}
    out: [sum]
    run:
      class: ExpressionTool
      inputs: {first: int, second: int}
      outputs: {sum: int}
      expression: "${return {sum: inputs.first + inputs.second};}"
  find:                 # of the data set and values, a few a job
    sluice:batch: {files: 4}
    scatter: [word, text]
    scatterMethod: flat_crossproduct
    in: {word: words, text: texts}
    out: [found]
    run: &find
      class: CommandLineTool
      baseCommand: [sh, -c, 'echo "$0"; cat "$1"']
      arguments: [$(inputs.word), $(inputs.text)]
      inputs: {word: string, text: File}
      outputs: {found: stdout}
      stdout: $(inputs.text.nameroot).$(inputs.word)
      requirements: {ToolTimeLimit: {timelimit: 60}}
  pair:                 # of the data set, and of what another step made of it: each with each
    scatter: [one, other]
    scatterMethod: flat_crossproduct
    in: {one: texts, other: label/found}
    out: [found]
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs:
        one: {type: File, inputBinding: {position: 2}}
        other: {type: File, inputBinding: {position: 1}}
      outputs: {found: stdout}
      stdout: $(inputs.one.nameroot)-$(inputs.other.nameroot).pair
      requirements: {ToolTimeLimit: {timelimit: 60}}
  label:
    scatter: text
    in: {text: {source: some/text, pickValue: all_non_null}, word: {default: L}}
    out: [found]
    run: *find
  some:                 # a filter: of what it leaves out there is nothing
    scatter: text
    when: $(inputs.text.size > 20)
    in: {text: texts}
    out: [text]
    run:
      class: CommandLineTool
      baseCommand: sort
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {text: stdout}
      stdout: $(inputs.text.nameroot).rev
      requirements: {ToolTimeLimit: {timelimit: 60}}
  join:
    in: {parts: pair/found}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {joined: stdout}
      stdout: joined.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  see:                  # three
    scatter: [count, text, word]
    scatterMethod: flat_crossproduct
    in: {count: counts, text: {source: some/text, pickValue: all_non_null}, word: words}
    out: [found]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'head -n "$0" "$1"; echo "$2"']
      arguments: [$(inputs.count), $(inputs.text), $(inputs.word)]
      inputs: {count: int, text: File, word: string}
      outputs: {found: stdout}
      stdout: $(inputs.text.nameroot)-$(inputs.count)$(inputs.word)
      requirements: {ToolTimeLimit: {timelimit: 60}}
  nothing:
    scatter: [first, word]
    scatterMethod: flat_crossproduct
    in: {first: counts, word: none, second: {default: 1}}
    out: [sum]
    run:
      class: ExpressionTool
      inputs: {first: int, second: int, word: string}
      outputs: {sum: int}
      expression: "${return {sum: inputs.first + inputs.second};}"
