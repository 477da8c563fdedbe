cwlVersion: v1.2
$namespaces: {sluice: "urn:sluice:cwl:"}
class: Workflow
requirements: {SubworkflowFeatureRequirement: {}, ScatterFeatureRequirement: {}}
inputs:
  texts: File[]
outputs:
  counts: {type: File, outputSource: gather/all}
  number: {type: File, outputSource: inner/total}
steps:
  # A warm worker: `first-use-count` is on PATH.
  warm:
    scatter: text
    in: {text: texts}
    out: [count]
    sluice:warm: {}
    run:
      class: CommandLineTool
      baseCommand: first-use-count
      requirements: {ToolTimeLimit: {timelimit: 120}}
      inputs: {text: {type: File, inputBinding: {position: 1}}}
      outputs: {count: {type: stdout}}
      stdout: $(inputs.text.nameroot).count
  # Sandboxed, if the node has a sandbox.
  gather:
    in: {parts: warm/count}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      requirements: {ToolTimeLimit: {timelimit: 120}}
      inputs: {parts: "File[]"}
      outputs: {all: {type: stdout}}
      stdout: all.counts
  # A workflow in one job.
  inner:
    in: {list: gather/all}
    out: [total]
    run:
      class: Workflow
      inputs: {list: File}
      outputs: {total: {type: File, outputSource: second/out}}
      steps:
        first:
          in: {list: list}
          out: [out]
          run:
            class: CommandLineTool
            baseCommand: sort
            requirements: {ToolTimeLimit: {timelimit: 120}}
            inputs: {list: {type: File, inputBinding: {position: 1}}}
            outputs: {out: {type: stdout}}
            stdout: sorted
        second:
          in: {list: first/out}
          out: [out]
          run:
            class: CommandLineTool
            baseCommand: [wc, -l]
            requirements: {ToolTimeLimit: {timelimit: 120}}
            inputs: {list: {type: File, inputBinding: {position: 1}}}
            outputs: {out: {type: stdout}}
            stdout: total
