# Some jobs have no output; the other outputs keep their order.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, MultipleInputFeatureRequirement: {}}
inputs: {texts: "File[]", word: string}
outputs:
  kept: {type: "File[]", outputSource: number/numbered}
  all: {type: File, outputSource: join/all}
steps:
  keep:
    scatter: text
    in: {text: texts, word: word}
    out: [kept]
    run:
      class: CommandLineTool
      requirements: {ShellCommandRequirement: {}, ToolTimeLimit: {timelimit: 60}}
      arguments: [grep, -q, $(inputs.word), $(inputs.text), {shellQuote: false, valueFrom: "&& cp"}, $(inputs.text), kept.txt, {shellQuote: false, valueFrom: "|| true"}]
      inputs: {text: File, word: string}
      outputs: {kept: {type: "File?", outputBinding: {glob: kept.txt}}}
  number:
    scatter: text
    in: {text: {source: keep/kept, pickValue: all_non_null}}
    out: [numbered]
    run:
      class: CommandLineTool
      baseCommand: [cat, -n]
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {numbered: stdout}
      stdout: numbered.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  join:
    in: {parts: number/numbered}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      outputs: {all: stdout}
      stdout: all.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
