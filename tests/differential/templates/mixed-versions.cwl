# Files of several CWL versions, each run with the rules of its own: defaults of tools, and the known fields of directories.
# Expressions of steps use the functions of the workflow, and expressions of a tool its own.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  SubworkflowFeatureRequirement: {}
  StepInputExpressionRequirement: {}
  InlineJavascriptRequirement: {expressionLib: ["function tag(x) { return 'of-the-workflow-' + x; }"]}
inputs: {texts: "File[]"}
outputs:
  plain_ones: {type: "File[]", outputSource: plain/ram}
  some_ones: {type: "Directory[]", outputSource: some/folder, pickValue: all_non_null}
  nested_ones: {type: "File[]", outputSource: nested/listed}
  inside_ones: {type: "File[]", outputSource: inside/sized}
  tagged_ones: {type: "File[]", outputSource: tag/tagged}
steps:
  folders: {scatter: text, in: {text: texts}, out: [folder], run: parts/old/folder.cwl}
  plain: {scatter: folder, in: {folder: folders/folder}, out: [ram], run: parts/old/ram.cwl}
  some:
    scatter: text
    in: {text: texts}
    when: $(inputs.text.size > 10)
    out: [folder]
    run: parts/old/folder.cwl
  nested: {scatter: text, in: {text: texts}, out: [listed], run: parts/old/both.cwl}
  inside: {scatter: text, in: {text: texts}, out: [sized], run: parts/old/inside.cwl}
  tag:
    scatter: text
    in: {text: texts, name: {valueFrom: "$(tag(inputs.text.basename))"}}
    out: [tagged]
    run:
      class: CommandLineTool
      baseCommand: echo
      requirements: {InlineJavascriptRequirement: {expressionLib: ["function ending() { return '.of-the-tool'; }"]}}
      inputs: {text: File, name: {type: string, inputBinding: {}}}
      outputs: {tagged: stdout}
      stdout: $(inputs.name + ending())
