# Files beside the data set: a required one, a given one and a missing one; a map, a merge and an expression use them. Another input is
# the given file, or else an output of a step.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  StepInputExpressionRequirement: {}
  MultipleInputFeatureRequirement: {}
inputs:
  texts: File[]
  words: File
  title: File?
  absent: File?
outputs:
  found: {type: "File[]", outputSource: look/found}
  page: {type: File, outputSource: join/page}
  lines: {type: File, outputSource: count/lines}
  own: {type: File, outputSource: own/lines}
steps:
  look:
    scatter: text
    in: {text: texts, words: words, absent: absent}
    out: [found]
    run:
      class: CommandLineTool
      baseCommand: [grep, -c, -f]
      inputs:
        words: {type: File, inputBinding: {position: 1}}
        absent: {type: File?, inputBinding: {position: 2}}
        text: {type: File, inputBinding: {position: 3}}
      successCodes: [0, 1]
      outputs: {found: stdout}
      stdout: $(inputs.text.nameroot).found
      requirements: {ToolTimeLimit: {timelimit: 60}}
  join:
    in:
      parts: look/found
      title: title
      name: {source: words, valueFrom: $(self.basename)}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.title), $(inputs.parts)]
      inputs: {title: File?, parts: "File[]", name: string}
      outputs: {page: stdout}
      stdout: $(inputs.name).page
      requirements: {ToolTimeLimit: {timelimit: 60}}
  count:
    in: {text: {source: [absent, join/page], pickValue: first_non_null}}
    out: [lines]
    run: &count
      class: CommandLineTool
      baseCommand: [wc, -l]
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {lines: stdout}
      stdout: $(inputs.text.nameroot).lines
      requirements: {ToolTimeLimit: {timelimit: 60}}
  own:
    in: {text: {source: [title, join/page], pickValue: first_non_null}}
    out: [lines]
    run: *count
