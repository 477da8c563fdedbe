class: CommandLineTool
cwlVersion: v1.2
baseComand: cat
inputs: {parts: {type: 'Fiel[]'}, note: 'string?'}
outputs: {joined: stdout}
requirements: {ToolTimeLimit: {timelimit: -1}}
