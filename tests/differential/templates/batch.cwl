# Several files in a job give the same names, order and pairs, with a filter and with an input shared by all jobs.
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
requirements: {ScatterFeatureRequirement: {}, MultipleInputFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  kept: {type: "File[]", outputSource: keep/kept, pickValue: all_non_null}
  trees: {type: "Directory[]", outputSource: pair/tree}
  sizes: {type: "int[]", outputSource: pair/size}
  all: {type: File, outputSource: join/all}
steps:
  keep:
    scatter: text
    sluice:batch: {files: 4}
    in: {text: texts}
    out: [kept]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'if grep -q apple "$1"; then cp "$1" kept.txt; else touch left-behind; fi; ls', sh]
      inputs: {text: {type: File, inputBinding: {}}}
      outputs: {kept: {type: "File?", outputBinding: {glob: kept.txt}}}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  join:
    in: {texts: texts}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.texts)]
      inputs: {texts: "File[]"}
      outputs: {all: stdout}
      stdout: all.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
  upper:
    scatter: text
    sluice:batch: {files: 100}
    in: {text: texts}
    out: [big]
    run:
      class: CommandLineTool
      baseCommand: [tr, a-z, A-Z]
      stdin: $(inputs.text.path)
      inputs: {text: File}
      outputs: {big: stdout}
      stdout: $(inputs.text.nameroot).upper
      requirements: {ToolTimeLimit: {timelimit: 60}}
  pair:
    scatter: [text, big]
    scatterMethod: dotproduct
    sluice:batch: {files: 2}
    in: {text: texts, big: upper/big, all: join/all}
    out: [tree, size]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'mkdir $1.tree && cat "$2" "$3" > $1.tree/both && wc -l < "$4" > $1.tree/lines && ls > $1.tree/seen', sh]
      inputs:
        text: {type: File, inputBinding: {position: 2}}
        big: {type: File, inputBinding: {position: 3}}
        all: {type: File, inputBinding: {position: 4}}
      arguments: [{valueFrom: $(inputs.text.nameroot), position: 1}]
      outputs:
        tree: {type: Directory, outputBinding: {glob: "*.tree"}}
        size: {type: int, outputBinding: {outputEval: $(inputs.big.size)}}
      requirements: {ToolTimeLimit: {timelimit: 60}, InlineJavascriptRequirement: {}}
