# Files beside the data set: one needed, one given, one left out; read by a map, by a merge, and by an expression.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  StepInputExpressionRequirement: {}
inputs:
  texts: File[]
  words: File
  title: File?
  absent: File?
outputs:
  found: {type: "File[]", outputSource: look/found}
  page: {type: File, outputSource: join/page}
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
