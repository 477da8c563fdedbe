cwlVersion: v1.2
class: CommandLineTool
baseCommand: cat
inputs: {parts: "File[]"}
arguments: [$(inputs.parts)]
stdout: joined.txt
outputs: {joined: stdout}
requirements: {ToolTimeLimit: {timelimit: 60}}
