cwlVersion: v1.2
class: CommandLineTool
baseCommand: cat
inputs: []
outputs: []
