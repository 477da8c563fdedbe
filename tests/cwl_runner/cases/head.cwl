cwlVersion: v1.0
class: CommandLineTool
hints: {DockerRequirement: {dockerPull: "debian:12"}}
baseCommand: head
inputs:
  lines: {type: int, default: 1, inputBinding: {prefix: -n, position: 1}}
  text: {type: File, inputBinding: {position: 2}}
stdout: first.txt
outputs:
  first: stdout
