cwlVersion: v1.2
class: CommandLineTool
baseCommand: [cat, "-n"]
inputs:
  f: {type: File, inputBinding: {}}
  n: string
stdout: same.txt
outputs:
  o: {type: stdout}
