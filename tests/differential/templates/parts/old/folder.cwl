cwlVersion: v1.0
class: CommandLineTool
baseCommand: [sh, -c, 'mkdir "$0"; touch "$0/one" "$0/two"']
inputs: {text: File}
arguments: [$(inputs.text.nameroot)]
outputs: {folder: {type: Directory, outputBinding: {glob: $(inputs.text.nameroot)}}}
