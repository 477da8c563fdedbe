# A tool is a template of one step.
cwlVersion: v1.2
class: CommandLineTool
baseCommand: [sh, -c, 'cat "$@"; echo "$0"']
inputs:
  texts: {type: "File[]", inputBinding: {position: 2}}
  title: {type: string, default: the end, inputBinding: {position: 1}}
outputs:
  all: stdout
  none: {type: File?, outputBinding: {glob: nothing}}
stdout: all.txt
