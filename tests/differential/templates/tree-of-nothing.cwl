# Merges as trees over data sets that a filter left empty still give one file.
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
requirements: {ScatterFeatureRequirement: {}, MultipleInputFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  joined: {type: File, outputSource: join/joined}
  both: {type: File, outputSource: join_both/joined}
  ends: {type: "File[]", outputSource: end/end}
steps:
  find:
    scatter: text
    in: {text: texts}
    out: [hits]
    run:
      class: CommandLineTool
      baseCommand: "true"
      inputs: {text: File}
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
    in: {texts: {source: find/hits, pickValue: all_non_null}}
    out: [joined]
    sluice:merge: {files: 2, tree: true}
    run: &join
      class: CommandLineTool
      baseCommand: cat
      arguments: [/dev/null, $(inputs.texts)]
      inputs: {texts: "File[]"}
      stdout: joined.txt
      outputs: {joined: stdout}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  join_both:
    in: {texts: {source: [upper/big, upper/big], linkMerge: merge_flattened}}
    out: [joined]
    sluice:merge: {files: 2, tree: true}
    run: *join
  end:
    scatter: text
    in: {text: texts, joined: join/joined, both: join_both/joined}
    out: [end]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.text), $(inputs.joined), $(inputs.both)]
      inputs: {text: File, joined: File, both: File}
      stdout: $(inputs.text.nameroot).end
      outputs: {end: stdout}
      requirements: {ToolTimeLimit: {timelimit: 60}}
