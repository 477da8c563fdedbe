cwlVersion: v1.2
class: CommandLineTool
requirements:
  InitialWorkDirRequirement:
    listing:
    - entryname: shout.sh
      entry: {$include: shout.sh}
  ToolTimeLimit: {timelimit: 60}
baseCommand: [sh, shout.sh]
inputs:
- $import: port.yml
- {id: words, type: File, default: {class: File, location: last-words.txt}}
arguments: [$(inputs.text), $(inputs.text.basename), $(inputs.words)]
outputs:
  shouted: {type: File, outputBinding: {glob: "$(inputs.text.basename)"}}
