# A step that runs a workflow on each file, with a tool that is used twice.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, SubworkflowFeatureRequirement: {}}
inputs: {texts: "File[]", count: int}
outputs:
  last: {type: "File[]", outputSource: clean/cleaned}
  lines: {type: "File[]", outputSource: clean/lines}
steps:
  clean:
    scatter: text
    in: {text: texts, count: count}
    out: [cleaned, lines]
    run:
      class: Workflow
      inputs: {text: File, count: int}
      outputs:
        cleaned: {type: File, outputSource: cut/top}
        lines: {type: File, outputSource: number/numbered}
      steps:
        cut:
          in: {text: sort/sorted, count: count}
          out: [top]
          run:
            class: CommandLineTool
            baseCommand: head
            inputs:
              count: {type: int, inputBinding: {prefix: -n, position: 1}}
              text: {type: File, inputBinding: {position: 2}}
            outputs: {top: stdout}
            stdout: top.txt
            requirements: {ToolTimeLimit: {timelimit: 60}}
        sort:
          in: {text: text}
          out: [sorted]
          run:
            class: CommandLineTool
            baseCommand: [sort, -r]
            inputs: {text: {type: File, inputBinding: {}}}
            outputs: {sorted: stdout}
            stdout: sorted.txt
            requirements: {EnvVarRequirement: {envDef: {LC_ALL: C}}, ToolTimeLimit: {timelimit: 60}}
        number:
          in: {text: sort/sorted}
          out: [numbered]
          run:
            class: CommandLineTool
            baseCommand: [cat, -n]
            inputs: {text: {type: File, inputBinding: {}}}
            outputs: {numbered: stdout}
            stdout: numbered.txt
            requirements: {ToolTimeLimit: {timelimit: 60}}
