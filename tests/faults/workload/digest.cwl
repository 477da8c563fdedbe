cwlVersion: v1.2
class: Workflow
label: Digests
doc: Makes a digest of every file, then joins the digests of fifty files each, in order. Cheap tools that take a little time.

$namespaces:
  sluice: "urn:sluice:cwl:"

sluice:match:
  sluice:type: digest
sluice:bind:
  pause: pause

requirements:
  ScatterFeatureRequirement: {}

inputs:
  files:
    type: File[]
  pause:
    type: float
    doc: Seconds that each digest takes, so that faults find jobs at work.

outputs:
  joined:
    type: File
    outputSource: join/joined

steps:
  digest:
    scatter: file
    in:
      file: files
      pause: pause
    out: [digest]
    sluice:retry: {attempts: 20, backoff: 0.5}
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'sleep "$1"; sha256sum < "$2" > "$3"', digest]
      inputs:
        file: File
        pause: float
      arguments: [$(inputs.pause), $(inputs.file), $(inputs.file.nameroot).digest]
      outputs:
        digest:
          type: File
          outputBinding: {glob: $(inputs.file.nameroot).digest}
      requirements:
        ResourceRequirement: {coresMin: 1, ramMin: 32, tmpdirMin: 1, outdirMin: 1}
        ToolTimeLimit: {timelimit: 60}

  join:
    in:
      parts: digest/digest
    out: [joined]
    sluice:retry: {attempts: 20, backoff: 0.5}
    sluice:merge: {files: 50}
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'out="$1"; shift; cat "$@" > "$out"', join]
      inputs:
        parts: File[]
      arguments: ["$(inputs.parts[0].nameroot).digests", $(inputs.parts)]
      outputs:
        joined:
          type: File
          outputBinding: {glob: "$(inputs.parts[0].nameroot).digests"}
      requirements:
        ResourceRequirement: {coresMin: 1, ramMin: 32, tmpdirMin: 1, outdirMin: 1}
        ToolTimeLimit: {timelimit: 60}
