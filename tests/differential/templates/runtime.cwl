# Resources in a tool's runtime: requested by the tool, by its step, by an expression, or not at all; as minimum and as maximum.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, StepInputExpressionRequirement: {}, ToolTimeLimit: {timelimit: 60}}
inputs: {texts: "File[]"}
outputs:
  both: {type: "File[]", outputSource: both/told}
  step: {type: "File[]", outputSource: step/told}
  sized: {type: "File[]", outputSource: sized/told}
  none: {type: "File[]", outputSource: none/told}
steps:
  both:
    scatter: text
    in: {text: texts, name: {default: both}}
    out: [told]
    run: &tell
      class: CommandLineTool
      baseCommand: echo
      hints: {ResourceRequirement: {coresMin: 1, ramMin: 100, tmpdirMin: 40.5, outdirMin: 7}}
      inputs: {text: File, name: string}
      arguments: [$(runtime.tmpdirSize), $(runtime.outdirSize), $(runtime.cores), $(runtime.ram)]
      outputs: {told: stdout}
      stdout: $(inputs.text.nameroot).$(inputs.name)
  step:
    scatter: text
    in: {text: texts, name: {default: step}}
    out: [told]
    requirements: {ResourceRequirement: {outdirMax: 5}}
    run: *tell
  sized:
    scatter: text
    in: {text: texts, name: {default: sized}}
    out: [told]
    run: {<<: *tell, requirements: {ResourceRequirement: {tmpdirMin: $(inputs.text.size), outdirMin: 3}}}
  none:
    scatter: text
    in: {text: texts, name: {default: none}}
    out: [told]
    run: {<<: *tell, hints: {}}
