cwlVersion: v1.2
$graph:
- id: twice
  class: Workflow
  inputs: {text: File}
  outputs: {numbered: {type: File, outputSource: second/numbered}}
  steps:
    first: {in: {text: text}, out: [numbered], run: "#number"}
    second: {in: {text: first/numbered}, out: [numbered], run: "steps.cwl#number"}
- id: number
  class: CommandLineTool
  baseCommand: [nl, -ba]
  inputs: {text: {type: File, inputBinding: {position: 1}}}
  stdout: $(inputs.text.basename)
  outputs: {numbered: stdout}
  requirements: {ToolTimeLimit: {timelimit: 60}}
