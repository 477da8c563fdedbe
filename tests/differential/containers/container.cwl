# Tools in an image, which one requires and one has as a hint, with a work folder and a nested workflow.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  SubworkflowFeatureRequirement: {}
  InlineJavascriptRequirement: {}
inputs:
  texts: File[]
outputs:
  marked: {type: "File[]", outputSource: mark/marked}
  sizes: {type: "File[]", outputSource: nested/size}
  all: {type: File, outputSource: join/all}
steps:
  mark:
    scatter: text
    in: {text: texts}
    out: [marked]
    run:
      class: CommandLineTool
      requirements:
        DockerRequirement: {dockerPull: "localhost/tiny:1"}
        InitialWorkDirRequirement:
          listing:
            - entryname: note.txt
              entry: "note of $(inputs.text.basename)"
        ToolTimeLimit: {timelimit: 60}
      baseCommand: [sh, -c, 'cat /etc/mark note.txt "$0"; grep -c . "$0"; true']
      inputs:
        text: {type: File, inputBinding: {}}
      outputs:
        marked: stdout
      stdout: $(inputs.text.nameroot)-marked.txt
  nested:
    scatter: text
    in: {text: mark/marked}
    out: [size]
    run:
      class: Workflow
      inputs: {text: File}
      outputs:
        size: {type: File, outputSource: count/size}
      steps:
        count:
          in: {text: text}
          out: [size]
          run:
            class: CommandLineTool
            requirements:
              DockerRequirement: {dockerPull: "localhost/tiny:1"}
              ToolTimeLimit: {timelimit: 60}
            baseCommand: [sh, -c, 'cat /etc/mark; wc -l']
            stdin: $(inputs.text.path)
            inputs:
              text: File
            outputs:
              size: stdout
            stdout: $(inputs.text.basename).size
  join:
    in: {parts: nested/size}
    out: [all]
    run:
      class: CommandLineTool
      hints:
        DockerRequirement: {dockerPull: "localhost/tiny:1"}
      requirements:
        ToolTimeLimit: {timelimit: 60}
      baseCommand: [cat, /etc/mark]
      arguments: [$(inputs.parts)]
      inputs:
        parts: File[]
      outputs:
        all: stdout
      stdout: all.txt
