# CWL v1.1, written with lists.
cwlVersion: v1.1
class: Workflow
requirements:
  - class: ScatterFeatureRequirement
inputs:
  - {id: texts, type: {type: array, items: File}}
outputs:
  - {id: counts, type: File, outputSource: join/joined}
steps:
  - id: count
    scatter: [text]
    in: [{id: text, source: texts}]
    out: [{id: counted}]
    run:
      class: CommandLineTool
      requirements: [{class: ToolTimeLimit, timelimit: 60}]
      baseCommand: [wc, -w]
      inputs: [{id: text, type: stdin}]
      stdout: words
      outputs: [{id: counted, type: stdout}]
  - id: join
    in: [{id: parts, source: [count/counted]}]
    out: [joined]
    run:
      class: CommandLineTool
      requirements: [{class: ToolTimeLimit, timelimit: 60}]
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: [{id: parts, type: {type: array, items: File}}]
      stdout: counts.txt
      outputs: [{id: joined, type: stdout}]
