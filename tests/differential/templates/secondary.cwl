# Files with secondary files, which a step declares and the next steps need, alone and in a list.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, StepInputExpressionRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  indexed: {type: "File[]", outputSource: index/indexed, secondaryFiles: [.idx, "^.len?"]}
  lookups: {type: "File[]", outputSource: look/found}
  all: {type: File, outputSource: count/all}
  shouted: {type: "File[]", outputSource: shout/loud}
steps:
  index:
    scatter: text
    in: {text: texts}
    out: [indexed]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'cp "$1" "$2.srt" && sort "$1" > "$2.srt.idx"; if [ -s "$1" ]; then wc -c < "$1" > "$2.len"; fi', sh]
      inputs: {text: {type: File, inputBinding: {position: 1}}}
      arguments: [{valueFrom: $(inputs.text.nameroot), position: 2}]
      outputs: {indexed: {type: File, secondaryFiles: [.idx, "^.len?"], outputBinding: {glob: "*.srt"}}}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  look:
    scatter: text
    in: {text: index/indexed}
    out: [found]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'ls "$(dirname "$1")"; cat "$1" "$1.idx"; cat "${1%.srt}.len" || true', sh]
      inputs: {text: {type: File, secondaryFiles: [.idx], inputBinding: {position: 1}}}
      outputs: {found: stdout}
      stdout: $(inputs.text.nameroot).found
      requirements: {ToolTimeLimit: {timelimit: 60}}
  count:
    in: {texts: index/indexed}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'for each in "$@"; do cat "$each.idx"; done', sh]
      inputs: {texts: {type: "File[]", secondaryFiles: [{pattern: .idx, required: true}], inputBinding: {}}}
      outputs: {all: stdout}
      stdout: all.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  shout:
    scatter: text
    in:
      text: index/indexed
      name: {valueFrom: "$(inputs.text.secondaryFiles[0].basename)"}
    out: [loud]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'tr a-z A-Z < "$1.idx"', sh]
      inputs: {text: {type: File, secondaryFiles: [.idx], inputBinding: {position: 1}}, name: string}
      outputs: {loud: stdout}
      stdout: $(inputs.name).loud
      requirements: {ToolTimeLimit: {timelimit: 60}}
