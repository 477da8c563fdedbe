class: CommandLineTool
cwlVersion: v1.2
baseCommand: [wc, -l]
hints: {ToolTimeLimit: {timelimit: 60}}
inputs: {text: {type: File, inputBinding: {}}}
outputs: {counted: stdout}
