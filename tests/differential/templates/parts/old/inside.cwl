# Text in a file of v1.0 follows v1.0; the files that it names may be newer.
cwlVersion: v1.0
class: Workflow
requirements: {StepInputExpressionRequirement: {}, InlineJavascriptRequirement: {}}
inputs: {text: File}
outputs: {sized: {type: File, outputSource: size/sized}}
steps:
  say:
    in: {text: text, word: {valueFrom: "$(inputs.text.nameroot + '-2')"}}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: echo
      arguments: [$(inputs.word), $(runtime.ram)]
      inputs: {text: File, word: string}
      stdout: $(inputs.word).txt
      outputs: {said: stdout}
  size: {in: {text: say/said}, out: [sized], run: size.cwl}
