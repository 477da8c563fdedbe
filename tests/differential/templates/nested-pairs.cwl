# A workflow in each job that uses files of two data sets, with another workflow inside.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, SubworkflowFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  both: {type: "File[]", outputSource: pair/both}
steps:
  big:
    scatter: text
    in: {text: texts}
    out: [made]
    run: &upper
      class: CommandLineTool
      requirements: {ToolTimeLimit: {timelimit: 60}}
      baseCommand: [tr, a-z, A-Z]
      inputs: {text: File}
      stdin: $(inputs.text.path)
      stdout: $(inputs.text.nameroot).big
      outputs: {made: stdout}
  pair:
    scatter: [text, big]
    scatterMethod: dotproduct
    in: {text: texts, big: big/made}
    out: [both]
    run:
      class: Workflow
      requirements: {SubworkflowFeatureRequirement: {}}
      inputs: {text: File, big: File}
      outputs: {both: {type: File, outputSource: join/joined}}
      steps:
        turn:
          in: {text: text}
          out: [turned]
          run:
            class: Workflow
            inputs: {text: File}
            outputs: {turned: {type: File, outputSource: turn/made}}
            steps:
              turn:
                in: {text: text}
                out: [made]
                run:
                  class: CommandLineTool
                  requirements: {ToolTimeLimit: {timelimit: 60}}
                  baseCommand: tac
                  inputs: {text: File}
                  stdin: $(inputs.text.path)
                  stdout: $(inputs.text.nameroot).turned
                  outputs: {made: stdout}
        join:
          in: {first: turn/turned, second: big}
          out: [joined]
          run:
            class: CommandLineTool
            requirements: {ToolTimeLimit: {timelimit: 60}}
            baseCommand: cat
            inputs: {first: {type: File, inputBinding: {position: 1}}, second: {type: File, inputBinding: {position: 2}}}
            stdout: $(inputs.second.nameroot).both
            outputs: {joined: stdout}
