"""A template with secret parameters."""

TEMPLATE = """\
cwlVersion: v1.2
class: Workflow
$namespaces:
  sluice: "urn:sluice:cwl:"
  cwltool: "http://commonwl.org/cwltool#"
sluice:bind: {token: secret:places-api, run: run}
requirements:
  ScatterFeatureRequirement: {}
  StepInputExpressionRequirement: {}
  InlineJavascriptRequirement: {}
  SubworkflowFeatureRequirement: {}
  MultipleInputFeatureRequirement: {}
inputs:
  frames: File[]
  token: string
  run: string?
outputs:
  all: {type: "File[]", outputSource: ask/answer}
steps:
  ask:
    scatter: frame
    in:
      frame: frames
      key: token
      run: run
    out: [answer]
    run:
      class: CommandLineTool
      baseCommand: ask
      inputs:
        frame: {type: File, inputBinding: {}}
        key: string
        run: string?
      outputs:
        answer: stdout
      hints:
        cwltool:Secrets: {secrets: [key]}
      requirements:
        EnvVarRequirement:
          envDef: {TOKEN: "Bearer $(inputs.key)"}
        InitialWorkDirRequirement:
          listing:
            - {entryname: key.txt, entry: "$(inputs['key'])"}
"""
