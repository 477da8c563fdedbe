# A packed document of v1.0 with several tools: names with '#', lists of ports with ids.
cwlVersion: v1.0
$graph:
  - id: main
    class: Workflow
    requirements: [{class: ScatterFeatureRequirement}]
    inputs: [{id: texts, type: {type: array, items: File}}]
    outputs: [{id: all, type: File, outputSource: "#main/join/all"}]
    steps:
      - id: sort
        run: "#sort"
        scatter: "#main/sort/text"
        in: [{id: text, source: "#main/texts"}]
        out: [sorted]
      - id: count
        run: "#count"
        scatter: text
        in: [{id: text, source: "#main/sort/sorted"}]
        out: [number]
      - id: join
        run: "#join"
        in: [{id: parts, source: "#main/count/number"}]
        out: [all]
  - id: sort
    class: CommandLineTool
    baseCommand: sort
    inputs: [{id: text, type: File, inputBinding: {}}]
    outputs: [{id: sorted, type: stdout}]
    stdout: $(inputs.text.nameroot).sorted
    requirements: [{class: EnvVarRequirement, envDef: {LC_ALL: C}}]
  - id: count
    class: CommandLineTool
    baseCommand: [wc, -l]
    inputs: [{id: text, type: File}]
    stdin: $(inputs.text.path)
    outputs: [{id: number, type: stdout}]
    stdout: $(inputs.text.nameroot).number
  - id: join
    class: CommandLineTool
    baseCommand: cat
    inputs: [{id: parts, type: {type: array, items: File}}]
    arguments: [$(inputs.parts)]
    outputs: [{id: all, type: stdout}]
    stdout: all.txt
