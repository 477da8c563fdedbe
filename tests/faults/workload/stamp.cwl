cwlVersion: v1.2
class: Workflow
label: Stamps
doc: >-
  Makes a digest of every file with a tool that stays loaded, enters each in a register that only so many
  may write to at a time, and joins the entries of fifty files each, in order.

$namespaces:
  sluice: "urn:sluice:cwl:"

sluice:match:
  sluice:type: stamp
sluice:bind:
  pause: pause

requirements:
  ScatterFeatureRequirement: {}

inputs:
  files:
    type: File[]
  pause:
    type: float
    doc: Seconds that each stamp takes, so that faults find the tool at work.

outputs:
  joined:
    type: File
    outputSource: join/joined

steps:
  stamp:
    scatter: file
    in:
      file: files
      pause: pause
    out: [stamp]
    sluice:retry: {attempts: 20, backoff: 0.5, also: [tool_timeout]}
    sluice:warm: {idle: 5, jobs: 20}
    sluice:rank: 5  # so that it is at work whenever there is something to do
    run:
      class: CommandLineTool
      # The upload of the template inserts the text of misbehaving_tool.py here.
      baseCommand: [python3, -c, "@program@"]
      inputs:
        file: File
        pause: float
      arguments: [$(inputs.file), $(inputs.pause), $(inputs.file.nameroot).stamp]
      outputs:
        stamp:
          type: File
          outputBinding: {glob: $(inputs.file.nameroot).stamp}
      requirements:
        ResourceRequirement: {coresMin: 1, ramMin: 128, tmpdirMin: 1, outdirMin: 1}
        ToolTimeLimit: {timelimit: 20}

  enter:
    scatter: stamp
    in:
      stamp: stamp/stamp
    out: [entry]
    sluice:retry: {attempts: 20, backoff: 0.5}
    sluice:resources: {register: 1, entries: 1}
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'sleep 0.1; sha256sum < "$1" > "$2"', enter]
      inputs:
        stamp: File
      arguments: [$(inputs.stamp), $(inputs.stamp.nameroot).entry]
      outputs:
        entry:
          type: File
          outputBinding: {glob: $(inputs.stamp.nameroot).entry}
      requirements:
        ResourceRequirement: {coresMin: 1, ramMin: 32, tmpdirMin: 1, outdirMin: 1}
        ToolTimeLimit: {timelimit: 60}

  join:
    in:
      parts: enter/entry
    out: [joined]
    sluice:retry: {attempts: 20, backoff: 0.5}
    sluice:merge: {files: 50}
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'out="$1"; shift; cat "$@" > "$out"', join]
      inputs:
        parts: File[]
      arguments: ["$(inputs.parts[0].nameroot).entries", $(inputs.parts)]
      outputs:
        joined:
          type: File
          outputBinding: {glob: "$(inputs.parts[0].nameroot).entries"}
      requirements:
        ResourceRequirement: {coresMin: 1, ramMin: 32, tmpdirMin: 1, outdirMin: 1}
        ToolTimeLimit: {timelimit: 60}
