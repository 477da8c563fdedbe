# Lists whose items have files in them: each item is an entry of a data set, over which steps are
# spread. Another step gets a whole list.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  StepInputExpressionRequirement: {}
  InlineJavascriptRequirement: {}
inputs:
  samples:
    type:
      type: array
      items:
        type: record
        name: Sample
        fields:
          - {name: label, type: string}
          - {name: reads, type: "File?"}
  rows: {type: {type: array, items: {type: array, items: File}}}
  either: {type: {type: array, items: [string, File]}}
  suffix: {type: string, default: end}
outputs:
  counts: {type: "File[]", outputSource: count/counted}
  joined: {type: "File[]", outputSource: join/joined}
  said: {type: "File[]", outputSource: say/said}
  labels: {type: File, outputSource: whole/labels}
steps:
  count:
    scatter: [reads, label]
    scatterMethod: dotproduct
    in:
      reads: {source: samples, valueFrom: $(self.reads)}
      label: {source: samples, valueFrom: $(self.label)}
      suffix: suffix
    out: [counted]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'cat "$@" < /dev/null | wc -w', sh]
      arguments: [$(inputs.reads)]
      inputs: {reads: "File?", label: string, suffix: string}
      stdout: $(inputs.label).$(inputs.suffix)
      outputs: {counted: stdout}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  join:
    scatter: row
    in: {row: rows}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: [cat, /dev/null]
      inputs: {row: {type: "File[]", inputBinding: {}}}
      stdout: joined.txt
      outputs: {joined: stdout}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  say:
    scatter: thing
    in: {thing: either}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'if [ -f "$0" ]; then cat "$0"; else echo "$0"; fi']
      inputs: {thing: {type: [string, File], inputBinding: {}}}
      stdout: said.txt
      outputs: {said: stdout}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  whole:
    in: {samples: samples, counted: count/counted}
    out: [labels]
    run:
      class: CommandLineTool
      baseCommand: echo
      arguments:
        - "${return inputs.samples.map(function (sample) { return sample.label; }).join('+');}"
        - $(inputs.counted.length)
      inputs: {samples: Any, counted: "File[]"}
      stdout: labels.txt
      outputs: {labels: stdout}
      requirements: {ToolTimeLimit: {timelimit: 60}, InlineJavascriptRequirement: {}}
