# Tools that declare the formats of their inputs and outputs.
cwlVersion: v1.2
class: Workflow
$namespaces: {edam: "http://edamontology.org/"}
requirements: {ScatterFeatureRequirement: {}, SubworkflowFeatureRequirement: {}, ToolTimeLimit: {timelimit: 60}}
inputs: {texts: "File[]"}
outputs:
  lines: {type: "File[]", outputSource: number/numbered}
  tops: {type: "File[]", outputSource: cut/top}
steps:
  sort:
    scatter: text
    in: {text: texts}
    out: [sorted]
    run:
      class: CommandLineTool
      baseCommand: sort
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {sorted: {type: File, format: "edam:format_1964", outputBinding: {glob: sorted.txt}}}
      stdout: sorted.txt
  number:
    scatter: text
    in: {text: sort/sorted}
    out: [numbered]
    run: &number
      class: CommandLineTool
      baseCommand: [cat, -n]
      inputs: {text: {type: File, format: "edam:format_1964", inputBinding: {}}}
      outputs: {numbered: stdout}
      stdout: numbered.txt
  cut:
    scatter: text
    in: {text: sort/sorted}
    out: [top]
    run:
      class: Workflow
      inputs: {text: {type: File, format: "edam:format_1964"}}
      outputs: {top: {type: File, outputSource: number/numbered}}
      steps:
        number: {in: {text: text}, out: [numbered], run: *number}
