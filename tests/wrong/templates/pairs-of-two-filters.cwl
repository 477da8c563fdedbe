cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, InlineJavascriptRequirement: {}, ToolTimeLimit: {timelimit: 60}}
inputs: {texts: "File[]"}
outputs:
  at_once: {type: "File[]", outputSource: direct/both}
  afterwards: {type: "File[]", outputSource: later/both}
steps:
  small:
    scatter: text
    in: {text: texts}
    when: $(inputs.text.size < 9)
    out: [same]
    run: &cat
      class: CommandLineTool
      baseCommand: cat
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {same: stdout}
  large:
    scatter: text
    in: {text: texts}
    when: $(inputs.text.size > 3)
    out: [same]
    run: *cat
  direct:
    scatter: [one, two]
    scatterMethod: dotproduct
    in: {one: {source: small/same, pickValue: all_non_null}, two: {source: large/same, pickValue: all_non_null}}
    out: [both]
    run: &both
      class: CommandLineTool
      baseCommand: cat
      inputs: {one: File, two: File}
      outputs: {both: stdout}
  mark:
    scatter: text
    in: {text: {source: large/same, pickValue: all_non_null}}
    out: [same]
    run: *cat
  later:
    scatter: [one, two]
    scatterMethod: dotproduct
    in:
      one: {source: small/same, pickValue: all_non_null}
      two: mark/same
    out: [both]
    run: *both
