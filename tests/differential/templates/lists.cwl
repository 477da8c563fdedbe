# Lists of files: one of a single job, scattered over; one of each job, used one in a job, whole, and flattened in a job.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, InlineJavascriptRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  lines: {type: "File[]", outputSource: cut/lines}
  numbered: {type: "File[]", outputSource: number/numbered}
  halves: {type: {type: array, items: {type: array, items: File}}, outputSource: halve/halves}
  joined: {type: "File[]", outputSource: join/joined}
  whole: {type: File, outputSource: whole/whole}
  again: {type: File, outputSource: again/all}
steps:
  cut:
    in: {texts: texts}
    out: [lines]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'cat "$@" | split -l 100 - part.', sh]
      inputs: {texts: {type: "File[]", inputBinding: {}}}
      outputs: {lines: {type: "File[]", outputBinding: {glob: "part.*"}}}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  number:
    scatter: text
    in: {text: cut/lines}
    out: [numbered]
    run:
      class: CommandLineTool
      baseCommand: [cat, -n]
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {numbered: stdout}
      stdout: $(inputs.text.basename).n
      requirements: {ToolTimeLimit: {timelimit: 60}}
  halve:
    scatter: text
    in: {text: texts}
    out: [halves]
    run:
      class: CommandLineTool
      baseCommand: [split, -n, l/2]
      inputs: {text: {type: File, inputBinding: {position: 1}}}
      arguments: [{valueFrom: $(inputs.text.nameroot)., position: 2}]
      outputs: {halves: {type: "File[]", outputBinding: {glob: "*.a?"}}}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  join:
    scatter: parts
    in: {parts: halve/halves}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: [cat]
      inputs: {parts: {type: "File[]", inputBinding: {}}}
      outputs: {joined: stdout}
      stdout: $(inputs.parts[0].nameroot).joined
      requirements: {ToolTimeLimit: {timelimit: 60}}
  whole:
    in: {all: halve/halves}
    out: [whole]
    run:
      class: CommandLineTool
      baseCommand: echo
      arguments: ["$(inputs.all.map(function (list) { return list[0].path.split('/').pop() + list.length }))"]
      inputs: {all: {type: {type: array, items: {type: array, items: File}}}}
      outputs: {whole: stdout}
      stdout: whole.txt
      requirements: {ToolTimeLimit: {timelimit: 60}, InlineJavascriptRequirement: {}}
  again:
    in: {first: cut/lines, texts: number/numbered}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: [cat]
      inputs: {first: {type: "File[]", inputBinding: {}}, texts: {type: "File[]", inputBinding: {}}}
      outputs: {all: stdout}
      stdout: all.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
