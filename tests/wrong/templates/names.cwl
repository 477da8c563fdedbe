cwlVersion: v1.2
class: Workflow
doc: Counts and joins.
$namespaces:
  sluice: "urn:sluice:cwl:"
sluice:match: {sluice:type: raw, detector: spd}
requirements:
  ScatterFeatureRequirement: {}
inputs:
  frames: File[]
  limit:
    type: int
    default: 5
  note: string?
outputs:
  all of it:
    type: File
    outputSource: join/joined
steps:
  count:
    scatter: frame
    in:
      frame: frames
      limit: limit
    out: [number, number]
    sluice:boundary: {minimum: 0.9}
    run:
      class: CommandLineTool
      baseCommand: [head, -n]
      inputs:
        limit: {type: int, inputBinding: {position: 1}}
        frame: {type: File, inputBinding: {position: 2}}
      outputs:
        number: stdout
      requirements:
        ToolTimeLimit: {timelimit: 10}
  join:
    in:
      parts: count/number
      note: note
    out: [joined]
    sluice:merge: {files: 10}
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs:
        parts: File[]
        note: string?
      outputs:
        joined: stdout
      requirements:
        ToolTimeLimit: {timelimit: 10}
