cwlVersion: v1.2
class: Workflow
requirements:
  {ScatterFeatureRequirement: {}, StepInputExpressionRequirement: {}, SubworkflowFeatureRequirement: {}, ToolTimeLimit: {timelimit: 60}}
hints: {InlineJavascriptRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  marked_ones: {type: "File[]", outputSource: mark/marked}
  inner_ones: {type: "File[]", outputSource: inside/marked}
steps:
  mark:
    scatter: text
    when: $(inputs.text.size > 3)
    in:
      text: texts
      title: {valueFrom: "${return 'a'}"}
      plain:
        valueFrom: $(inputs.text["base\"name"].length) and $(inputs.text['size']) and \$(more)
    out: [marked]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'echo $(date) $0']
      requirements:
        EnvVarRequirement: {envDef: {HERE: $(runtime.outdir), THERE: "$(runtime.outdir + '/x')"}}
      arguments: [$(inputs.text.path), "$(inputs.title || 'none')"]
      inputs: {text: File, title: string?, plain: {type: string?, default: $(1 + 1)}}
      stdout: "$(inputs.text.nameroot + '.out')"
      outputs: {marked: {type: File, outputBinding: {glob: ["x", "$(other.x)", "$(inputs.text[')']", "${return '}'"]}}}
  inside:
    scatter: text
    in: {text: texts}
    out: [marked]
    run:
      class: Workflow
      inputs: {text: File}
      outputs: {marked: {type: File, outputSource: able/marked}}
      steps:
        able:
          in: {text: text}
          out: [marked]
          requirements: {InlineJavascriptRequirement: {}}
          run:
            class: CommandLineTool
            baseCommand: cat
            inputs: {text: File}
            stdin: $(inputs.text.path + '')
            outputs: {marked: stdout}
        unable:
          in: {text: text}
          out: [marked]
          run:
            class: CommandLineTool
            baseCommand: cat
            inputs: {text: File}
            stdin: $(inputs.text.path + '')
            outputs: {marked: stdout}
