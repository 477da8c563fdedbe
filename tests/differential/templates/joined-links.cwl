# Inputs that each job joins: data sets with parameters, whole data sets, files with values, and defaults.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, MultipleInputFeatureRequirement: {}, StepInputExpressionRequirement: {}, InlineJavascriptRequirement: {}}
inputs:
  texts: File[]
  extra: File
  pair: {type: {type: record, fields: {one: File, two: File}}}
  words: string[]
  word: string?
  given: {type: File, default: {class: File, basename: given.txt, contents: "g\n"}}
outputs:
  sorted: {type: "File[]", outputSource: sort/sorted}
  flat: {type: File, outputSource: flat/told}
  nested: {type: File, outputSource: nested/told}
  chosen: {type: File, outputSource: chosen/told}
  mixed: {type: File, outputSource: mixed/told}
  each: {type: "File[]", outputSource: each/told}
  defaulted: {type: File, outputSource: defaulted/told}
  files: {type: File, outputSource: files/all}
  after-null: {type: File, outputSource: after-null/told}
steps:
  sort:
    scatter: text
    in: {text: texts}
    out: [sorted]
    run:
      class: CommandLineTool
      baseCommand: sort
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {sorted: stdout}
      stdout: $(inputs.text.nameroot).sorted
      requirements: {ToolTimeLimit: {timelimit: 60}}
  some:
    in: {text: extra, word: word}
    when: $(inputs.word !== null)
    out: [sorted]
    run:
      class: CommandLineTool
      baseCommand: sort
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {sorted: stdout}
      stdout: some.sorted
      requirements: {ToolTimeLimit: {timelimit: 60}}
  flat:
    in: {value: {source: [sort/sorted, extra, words], linkMerge: merge_flattened}}
    out: [told]
    run: &tell
      class: ExpressionTool
      requirements: {InlineJavascriptRequirement: {}}
      inputs: {value: Any?}
      outputs: {told: File}
      expression: |
        ${
          function names(v) {
            if (v === null || v === undefined) return null;
            if (Array.isArray(v)) return v.map(names);
            if (typeof v !== "object") return v;
            if (v["class"] === "File") return v.basename;
            var o = {};
            Object.keys(v).sort().forEach(function(k) { o[k] = names(v[k]); });
            return o;
          }
          return {"told": {"class": "File", "basename": "told.json", "contents": JSON.stringify(names(inputs.value))}};
        }
  nested:
    in: {value: {source: [sort/sorted, texts, pair], linkMerge: merge_nested}}
    out: [told]
    run: *tell
  chosen:
    in: {value: {source: [some/sorted, sort/sorted, texts], pickValue: first_non_null}}
    out: [told]
    run: *tell
  mixed:
    in: {value: {source: [extra, pair, word], pickValue: all_non_null}}
    out: [told]
    run: *tell
  each:
    scatter: value
    in: {value: texts, other: {source: [word, some/sorted, words], pickValue: first_non_null}, told: {source: [extra, words], valueFrom: "$(self[0].basename + self[1].length)"}}
    out: [told]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {value: File, other: {type: Any, inputBinding: {position: 1}}, told: {type: string, inputBinding: {position: 2}}}
      outputs: {told: stdout}
      stdout: $(inputs.value.nameroot).each
      requirements: {ToolTimeLimit: {timelimit: 60}}
  defaulted:
    in: {value: {source: some/sorted, default: none}}
    out: [told]
    run: *tell
  files:
    in: {files: {source: [given, extra]}}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: cat
      inputs: {files: "File[]"}
      arguments: [$(inputs.files)]
      outputs: {all: stdout}
      stdout: all.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  nothing:
    in: {}
    out: [value]
    run:
      class: ExpressionTool
      requirements: {InlineJavascriptRequirement: {}}
      inputs: {}
      outputs: {value: Any}
      expression: '${return {"value": null};}'
  after-null:
    in: {value: {source: nothing/value, default: [a default]}}
    out: [told]
    run: *tell
