# Several data sets, given by name: paired by position, as a cross product, concatenated, whole, and
# each on its own.
cwlVersion: v1.2
class: Workflow
requirements:
  MultipleInputFeatureRequirement: {}
  ScatterFeatureRequirement: {}
inputs: {texts: "File[]", mates: "File[]", few: "File[]", words: "string[]"}
outputs:
  alone: {type: "File[]", outputSource: upper/big}
  together: {type: "File[]", outputSource: pair/both}
  later: {type: "File[]", outputSource: later/both}
  worded: {type: "File[]", outputSource: word/both}
  crossed: {type: "File[]", outputSource: cross/both}
  behind: {type: File, outputSource: behind/all}
  page: {type: File, outputSource: page/all}
  each: {type: "File[]", outputSource: each/both}
steps:
  upper:
    scatter: text
    in: {text: mates}
    out: [big]
    run:
      class: CommandLineTool
      baseCommand: [tr, a-z, A-Z]
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {big: stdout}
      stdout: $(inputs.text.nameroot).upper
      requirements: {ToolTimeLimit: {timelimit: 60}}
  pair:
    scatter: [one, other]
    scatterMethod: dotproduct
    in: {one: texts, other: mates}
    out: [both]
    run: &both
      class: CommandLineTool
      baseCommand: cat
      inputs:
        one: {type: File, inputBinding: {position: 1}}
        other: {type: File, inputBinding: {position: 2}}
      outputs: {both: stdout}
      stdout: $(inputs.one.nameroot)-$(inputs.other.nameroot).both
      requirements: {ToolTimeLimit: {timelimit: 60}}
  later:                # what was made of one, with the other
    scatter: [one, other]
    scatterMethod: dotproduct
    in: {one: upper/big, other: texts}
    out: [both]
    run: *both
  word:
    scatter: [other, word, one]
    scatterMethod: dotproduct
    in: {one: texts, other: mates, word: words}
    out: [both]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'echo "$0"; cat "$1" "$2"']
      arguments: [$(inputs.word), $(inputs.one), $(inputs.other)]
      inputs: {one: File, other: File, word: string}
      outputs: {both: stdout}
      stdout: $(inputs.word).$(inputs.one.nameroot)
      requirements: {ToolTimeLimit: {timelimit: 60}}
  cross:
    scatter: [one, other]
    scatterMethod: flat_crossproduct
    in: {one: few, other: texts}
    out: [both]
    run: *both
  behind:
    in: {parts: {source: [few, texts, mates], linkMerge: merge_flattened}}
    out: [all]
    run: &all
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {all: stdout}
      stdout: all.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  page:                 # one alone, whole
    in: {parts: few}
    out: [all]
    run: *all
  each:                 # one by one, with all of another
    scatter: one
    in: {one: texts, parts: few}
    out: [both]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.one), $(inputs.parts)]
      inputs: {one: File, parts: "File[]"}
      outputs: {both: stdout}
      stdout: $(inputs.one.nameroot).each
      requirements: {ToolTimeLimit: {timelimit: 60}}
