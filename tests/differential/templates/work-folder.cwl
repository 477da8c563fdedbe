# Files in the tool's work folder, its own environment, and success codes other than zero.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  found: {type: "File[]", outputSource: look/found}
steps:
  look:
    scatter: text
    in: {text: texts}
    out: [found]
    run:
      class: CommandLineTool
      baseCommand: [bash, script.sh]
      successCodes: [0, 3]
      requirements:
        ToolTimeLimit: {timelimit: 60}
        EnvVarRequirement: {envDef: {GREETING: "hello from $(inputs.text.nameroot)"}}
        InitialWorkDirRequirement:
          listing:
          - entryname: script.sh
            entry: |
              echo "\$GREETING"; ls; cat in/copy.txt; exit 3
          - {entryname: in/copy.txt, entry: $(inputs.text)}
      inputs: {text: File}
      outputs: {found: stdout}
      stdout: $(inputs.text.nameroot).found
