# A filter without any output, before steps of every kind.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  found: {type: "File[]", outputSource: upper/big}
  joined: {type: File, outputSource: join/joined}
  ends: {type: "File[]", outputSource: end/end}
steps:
  find:
    scatter: text
    in: {text: texts}
    out: [hits]
    run:
      class: CommandLineTool
      baseCommand: [grep, of no text here]
      inputs: {text: {type: File, inputBinding: {position: 1}}}
      stdout: hits
      successCodes: [0, 1]
      outputs: {hits: {type: "File?", outputBinding: {glob: no-file}}}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  upper:
    scatter: text
    in: {text: {source: find/hits, pickValue: all_non_null}}
    out: [big]
    run:
      class: CommandLineTool
      baseCommand: [tr, a-z, A-Z]
      inputs: {text: File}
      stdin: $(inputs.text.path)
      stdout: $(inputs.text.nameroot).big
      outputs: {big: stdout}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  join:
    in: {texts: upper/big}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [/dev/null, $(inputs.texts)]
      inputs: {texts: "File[]"}
      stdout: joined.txt
      outputs: {joined: stdout}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  end:
    scatter: text
    in: {text: texts, joined: join/joined}
    out: [end]
    run:
      class: CommandLineTool
      baseCommand: [tail, -qn1]
      inputs: {text: {type: File, inputBinding: {position: 1}}, joined: {type: File, inputBinding: {position: 2}}}
      stdout: $(inputs.text.nameroot).end
      outputs: {end: stdout}
      requirements: {ToolTimeLimit: {timelimit: 60}}
