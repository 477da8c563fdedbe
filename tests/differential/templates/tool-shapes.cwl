# Requirements and bindings of a single tool: environment, files written by text and by expression, a pipe of a shell, standard error, a successful
# exit code other than zero, contents of the input, a glob by expression, an optional parameter with a default.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  InlineJavascriptRequirement: {}
  ToolTimeLimit: {timelimit: 60}
inputs:
  texts: File[]
  mark: {type: "string?", default: "<>"}
outputs:
  made: {type: "File[]", outputSource: make/made}
  said: {type: "File[]", outputSource: make/said}
  sizes: {type: "int[]", outputSource: make/size}
  heads: {type: "string[]", outputSource: make/head}
steps:
  make:
    scatter: text
    in: {text: texts, mark: mark}
    out: [made, said, size, head]
    run:
      class: CommandLineTool
      requirements:
        ShellCommandRequirement: {}
        EnvVarRequirement: {envDef: {MARK: $(inputs.mark), LC_ALL: C}}
        InitialWorkDirRequirement:
          listing:
            - {entryname: fixed.txt, entry: "fixed text\n"}
            - {entryname: $(inputs.text.nameroot).copy, entry: $(inputs.text)}
      inputs:
        text: {type: File, loadContents: true}
        mark: string?
      arguments:
        - {shellQuote: false, valueFrom: "cat fixed.txt *.copy | sed \"s/^/$MARK /\" > made-$(inputs.text.nameroot).out; echo told >&2; exit 3"}
      successCodes: [0, 3]
      stderr: $(inputs.text.nameroot).err
      outputs:
        made: {type: File, outputBinding: {glob: "made-$(inputs.text.nameroot).out"}}
        said: stderr
        size: {type: int, outputBinding: {outputEval: $(inputs.text.contents.length)}}
        head: {type: string, outputBinding: {glob: "made-*.out", loadContents: true, outputEval: "$(self[0].contents.split('\\n')[0])"}}
