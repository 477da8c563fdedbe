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
arguments: [$(inputs.text), $(inputs.text.basename)]
outputs:
  shouted: {type: File, outputBinding: {glob: "$(inputs.text.basename)"}}
