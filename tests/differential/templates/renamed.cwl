cwlVersion: v1.2
class: Workflow
doc: Files that an expression names otherwise than the tool, and two outputs of one name.
requirements:
  ScatterFeatureRequirement: {}
  SubworkflowFeatureRequirement: {}
  InlineJavascriptRequirement: {}
  StepInputExpressionRequirement: {}
inputs:
  texts: File[]
outputs:
  renamed: {type: "File[]", outputSource: rename/o}
  names: {type: "File[]", outputSource: tell/o}
steps:
  rename:
    scatter: f
    in: {f: texts}
    out: [o]
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs: {f: {type: File, inputBinding: {}}}
      stdout: tmp.out
      outputs:
        o:
          type: File
          outputBinding:
            glob: tmp.out
            outputEval: "${ self[0].basename = inputs.f.nameroot + '.renamed'; return self[0]; }"
  twice:
    scatter: f
    in: {f: rename/o, n: {valueFrom: "two"}}
    out: [x, y]
    run:
      class: Workflow
      inputs: {f: File, n: string}
      outputs:
        x: {type: File, outputSource: first/o}
        y: {type: File, outputSource: second/o}
      steps:
        first: {in: {f: f, n: n}, out: [o], run: parts/same-name.cwl}
        second: {in: {f: first/o, n: n}, out: [o], run: parts/same-name.cwl}
  tell:
    scatter: [f, x, y]
    scatterMethod: dotproduct
    in: {f: rename/o, x: twice/x, y: twice/y}
    out: [o]
    run:
      class: CommandLineTool
      baseCommand: echo
      arguments: [$(inputs.f.basename), $(inputs.x.basename), $(inputs.y.basename), $(inputs.y.size)]
      inputs: {f: File, x: File, y: File}
      stdout: $(inputs.f.nameroot).names
      outputs: {o: {type: stdout}}
