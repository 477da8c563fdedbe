cwlVersion: v1.0
class: CommandLineTool
requirements: {InlineJavascriptRequirement: {}}
baseCommand: echo
arguments: ["$(inputs.folder.listing ? inputs.folder.listing.length : 'none')", "$(runtime.ram)"]
inputs: {folder: Directory}
stdout: list.txt
outputs: {listed: stdout}
