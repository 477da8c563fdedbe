cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  StepInputExpressionRequirement: {}
  SubworkflowFeatureRequirement: {}
  InlineJavascriptRequirement: {}
  ToolTimeLimit: {timelimit: 60}
  EnvVarRequirement: {envDef: {NAME: $(inputs.title)}}
inputs: {texts: "File[]", limit: int}
outputs:
  cut_ones: {type: "File[]", outputSource: cut/cut}
  inner_ones: {type: "File[]", outputSource: inside/cut}
  made_ones: {type: "File[]", outputSource: make/made}
steps:
  cut:
    scatter: text
    when: $(inputs.limit)
    in:
      text: texts
      lim: limit
      number: {valueFrom: "$(inputs.lim)$(inputs['nn'])"}
    out: [cut]
    run:
      class: CommandLineTool
      baseCommand: [head, -c]
      inputs:
        text: {type: File, inputBinding: {position: 2}}
        lim: {type: int, inputBinding: {position: 1, valueFrom: $(inputs.limit)}}
        number: Any
        stdin: {type: string, default: $(inputs.nothing)}
      stdout: $(inputs.file.nameroot)
      outputs: {cut: stdout}
  make:
    scatter: text
    in: {text: texts}
    out: [made]
    requirements:
      EnvVarRequirement: {envDef: {LEFT: $(inputs.overridden)}}
    hints:
      ResourceRequirement: {coresMin: $(inputs.cores), ramMin: 100}
      InitialWorkDirRequirement: {listing: [$(inputs.overridden)]}
    run:
      class: CommandLineTool
      baseCommand: sh
      requirements:
        EnvVarRequirement: {envDef: {HERE: $(inputs.text.path), THERE: "$(inputs.test.path)"}}
        InitialWorkDirRequirement:
          listing:
            - {entryname: $(inputs.name), entry: "$(inputs.text) \\$(inputs.escaped)"}
            - $(inputs["test"])
      arguments: [$(inputs.text), $(inputs), "${return '$(inputs.code)'}", $(inputs.x.path), {valueFrom: $(inputs.y)}]
      inputs: {text: File}
      outputs: {made: {type: File, outputBinding: {glob: $(inputs.glob).txt, outputEval: $(inputs.z)}}}
  inside:
    scatter: text
    in: {text: texts}
    out: [cut]
    run:
      class: Workflow
      inputs: {text: File}
      outputs: {cut: {type: File, outputSource: able/cut}}
      steps:
        able:
          in: {text: text, title: {valueFrom: $(inputs.texts)}}
          out: [cut]
          run:
            class: CommandLineTool
            baseCommand: cat
            inputs: {text: File, title: Any}
            stdin: $(inputs.texts.path)
            outputs: {cut: stdout}
