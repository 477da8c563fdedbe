# Nested workflows over whole data sets, whose steps become steps of the outer workflow. They are nested twice, with an
# inherited requirement, a default of an inner input, an input that is passed on, and a choice.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, SubworkflowFeatureRequirement: {}, MultipleInputFeatureRequirement: {}}
inputs: {texts: "File[]", count: int}
outputs:
  page: {type: File, outputSource: inside/page}
  cut: {type: "File[]", outputSource: inside/cut}
  all: {type: File, outputSource: last/joined}
steps:
  last:
    in: {parts: {source: [inside/cut, inside/same], linkMerge: merge_flattened}}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {joined: stdout}
      stdout: all.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  inside:
    in: {files: texts, count: count}
    out: [page, cut, same]
    requirements: {EnvVarRequirement: {envDef: {WHO: outer}}}
    run:
      class: Workflow
      inputs:
        files: File[]
        count: int
        tail: {type: int, default: 1}
      outputs:
        page: {type: File, outputSource: deep/joined}
        cut: {type: "File[]", outputSource: top/cut}
        same: {type: "File[]", outputSource: files}
      steps:
        deep:
          in: {parts: top/cut, tail: tail}
          out: [joined]
          run:
            class: Workflow
            inputs: {parts: "File[]", tail: int}
            outputs: {joined: {type: File, outputSource: join/joined}}
            steps:
              tails:
                scatter: part
                in: {part: parts, tail: tail}
                out: [end]
                run:
                  class: CommandLineTool
                  baseCommand: [sh, -c, 'echo "$WHO"; tail -n "$0" "$1"']
                  inputs:
                    tail: {type: int, inputBinding: {position: 1}}
                    part: {type: File, inputBinding: {position: 2}}
                  outputs: {end: stdout}
                  stdout: $(inputs.part.basename).end
                  requirements: {ToolTimeLimit: {timelimit: 60}}
              join:
                in: {parts: tails/end}
                out: [joined]
                run:
                  class: CommandLineTool
                  baseCommand: cat
                  arguments: [$(inputs.parts)]
                  inputs: {parts: "File[]"}
                  outputs: {joined: stdout}
                  stdout: page.txt
                  requirements: {ToolTimeLimit: {timelimit: 60}}
        top:
          scatter: file
          in: {file: files, count: count}
          out: [cut]
          run:
            class: CommandLineTool
            baseCommand: head
            inputs:
              count: {type: int, inputBinding: {prefix: -n, position: 1}}
              file: {type: File, inputBinding: {position: 2}}
            outputs: {cut: stdout}
            stdout: $(inputs.file.nameroot).cut
            requirements: {ToolTimeLimit: {timelimit: 60}}
