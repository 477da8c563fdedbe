# A data set of files with secondary files.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: {type: "File[]", secondaryFiles: [.len, "^.note?"]}}
outputs:
  pages: {type: "File[]", outputSource: page/page}
  first: {type: File, secondaryFiles: [.len, "^.note?"], outputSource: choose/first}
steps:
  page:
    scatter: text
    in: {text: texts}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'ls "$(dirname "$1")"; cat "$1" "$1.len"', sh]
      inputs: {text: {type: File, secondaryFiles: [.len, "^.note?"], inputBinding: {}}}
      outputs: {page: stdout}
      stdout: $(inputs.text.nameroot).page
      requirements: {ToolTimeLimit: {timelimit: 60}}
  choose:
    in: {texts: texts}
    out: [first]
    run:
      class: ExpressionTool
      requirements: {InlineJavascriptRequirement: {}, ToolTimeLimit: {timelimit: 60}}
      inputs: {texts: {type: "File[]", secondaryFiles: [.len, "^.note?"]}}
      outputs: {first: {type: File, secondaryFiles: [.len, "^.note?"]}}
      expression: "${ return {first: inputs.texts[0]}; }"
