class: [CommandLineTool
inputs: []
