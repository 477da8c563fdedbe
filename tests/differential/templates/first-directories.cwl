# A data set of directories.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "Directory[]"}
outputs:
  files: {type: "File[]", outputSource: list/files}
  all: {type: File, outputSource: count/all}
  inner: {type: {type: array, items: {type: array, items: File}}, outputSource: take/inner}
steps:
  list:
    scatter: text
    in: {text: texts}
    out: [files]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'cd "$1" && find . | sort && cat one.txt', sh]
      inputs: {text: {type: Directory, inputBinding: {}}}
      outputs: {files: stdout}
      stdout: $(inputs.text.basename).list
      requirements: {ToolTimeLimit: {timelimit: 60}}
  take:
    scatter: text
    in: {text: {source: texts, loadListing: shallow_listing}}
    out: [inner]
    run:
      class: ExpressionTool
      requirements: {InlineJavascriptRequirement: {}, ToolTimeLimit: {timelimit: 60}}
      inputs: {text: {type: Directory, loadListing: shallow_listing}}
      outputs: {inner: "File[]"}
      expression: "${ return {inner: inputs.text.listing.filter(function (one) { return one.class == 'File'; })}; }"
  count:
    in: {texts: texts}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'for each in "$@"; do basename "$each"; find "$each/" -type f | wc -l; done', sh]
      inputs: {texts: {type: "Directory[]", inputBinding: {}}}
      outputs: {all: stdout}
      stdout: all.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
