cwlVersion: v1.0
class: CommandLineTool
baseCommand: echo
arguments: [$(runtime.ram), $(inputs.folder.basename)]
inputs: {folder: Directory}
stdout: ram.txt
outputs: {ram: stdout}
