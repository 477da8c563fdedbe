# A merge in repeated groups of two; other runners do not know groups, and merge all files at once.
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  joined: {type: File, outputSource: join/joined}
  sorted: {type: File, outputSource: sort/sorted}
  marked: {type: "File[]", outputSource: mark/marked}
steps:
  join:
    in: {parts: texts}
    out: [joined]
    sluice:merge: {files: 2, tree: true}
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {joined: stdout}
      stdout: joined.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  order:
    scatter: text
    in: {text: texts}
    out: [ordered]
    run:
      class: CommandLineTool
      baseCommand: sort
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {ordered: stdout}
      stdout: $(inputs.text.basename)
      requirements: {EnvVarRequirement: {envDef: {LC_ALL: C}}, ToolTimeLimit: {timelimit: 60}}
  sort:
    in: {parts: order/ordered}
    out: [sorted]
    sluice:merge: {files: 4, tree: true}
    run:
      class: CommandLineTool
      baseCommand: [sort, -m]
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {sorted: stdout}
      stdout: sorted.txt
      requirements: {EnvVarRequirement: {envDef: {LC_ALL: C}}, ToolTimeLimit: {timelimit: 60}}
  mark:
    scatter: text
    in: {text: texts, all: join/joined}
    out: [marked]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.text), $(inputs.all)]
      inputs: {text: File, all: File}
      outputs: {marked: stdout}
      stdout: $(inputs.text.basename).marked
      requirements: {ToolTimeLimit: {timelimit: 60}}
