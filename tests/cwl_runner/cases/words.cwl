# A library of processes; each case runs one of them.
cwlVersion: v1.2
$graph:
  - id: count
    class: CommandLineTool
    doc: The number of lines of a text, as a value.
    baseCommand: [wc, -l]
    requirements: {InlineJavascriptRequirement: {}, ResourceRequirement: {coresMin: 1, ramMin: 64}}
    inputs: {text: {type: File}}
    stdin: $(inputs.text.path)
    stdout: lines
    outputs: {lines: {type: int, outputBinding: {glob: lines, loadContents: true, outputEval: "$(parseInt(self[0].contents))"}}}
  - id: upper
    class: CommandLineTool
    baseCommand: [tr, a-z, A-Z]
    inputs: {text: {type: File}}
    stdin: $(inputs.text.path)
    stdout: $(inputs.text.nameroot).upper
    outputs: {big: {type: stdout}}
  - id: join
    class: CommandLineTool
    baseCommand: cat
    inputs: {texts: {type: "File[]", inputBinding: {position: 1}}}
    stdout: joined.txt
    outputs: {joined: {type: stdout}}
  - id: index
    class: CommandLineTool
    doc: A text with its index beside it, and a folder of its letters.
    baseCommand: [sh, -c]
    requirements: {InitialWorkDirRequirement: {listing: [{entry: $(inputs.text), entryname: own.txt}]}}
    arguments: ["sort own.txt > own.txt.idx; mkdir -p letters/first; cut -c1 own.txt > letters/first/all"]
    inputs: {text: File}
    outputs:
      indexed: {type: File, secondaryFiles: [.idx], outputBinding: {glob: own.txt}}
      letters: {type: Directory, outputBinding: {glob: letters}}
  - id: look
    class: CommandLineTool
    baseCommand: [sh, -c]
    arguments: ['cat "$0" "$1.idx"', $(inputs.letters.path)/first/all, $(inputs.indexed.path)]
    inputs:
      indexed: {type: File, secondaryFiles: [.idx]}
      letters: Directory
    stdout: seen
    outputs: {seen: stdout}
  - id: listed
    class: CommandLineTool
    doc: What is in a directory, and what lies beside each text.
    baseCommand: [sh, -c, 'for one in "$@"; do cd "$one"; find -L . -type f | LC_ALL=C sort; done', sh]
    arguments: [$(inputs.folder.path)]
    inputs:
      folder: Directory
      texts: {type: "File[]", default: [], inputBinding: {valueFrom: "$(self.map(function(one) {return one.dirname}))"}}
    requirements: {InlineJavascriptRequirement: {}}
    stdout: names
    outputs: {names: stdout}
  - id: collect
    class: ExpressionTool
    requirements: {InlineJavascriptRequirement: {}}
    inputs: {texts: "File[]"}
    outputs: {folder: Directory}
    expression: |
      ${
        var inner = {class: "Directory", basename: "inner", listing: inputs.texts.slice(1)};
        var note = {class: "File", basename: "note", contents: "of " + inputs.texts.length};
        return {folder: {class: "Directory", basename: "all", listing: [inputs.texts[0], inner, note]}};
      }
  - id: collected
    class: Workflow
    inputs: {texts: "File[]"}
    outputs: {names: {type: File, outputSource: list/names}}
    steps:
      collect: {run: "#collect", in: {texts: texts}, out: [folder]}
      list: {run: "#listed", in: {folder: collect/folder}, out: [names]}
  - id: sum
    class: ExpressionTool
    requirements: {InlineJavascriptRequirement: {}}
    inputs: {numbers: "int[]"}
    outputs: {sum: int}
    expression: "${ return {sum: inputs.numbers.reduce((a, b) => a + b, 0)}; }"
  - id: refuse
    class: CommandLineTool
    baseCommand: [sh, -c, "echo no beam >&2; exit 3"]
    inputs: []
    outputs: []
  - id: slow
    class: CommandLineTool
    requirements: {ToolTimeLimit: {timelimit: 1}}
    baseCommand: [sleep, "50"]
    inputs: []
    outputs: []
  - id: contained
    class: CommandLineTool
    requirements: {DockerRequirement: {dockerPull: none/of-this-name}}
    baseCommand: "true"
    inputs: []
    outputs: []
  - id: all
    class: Workflow
    doc: Every text counted and made big, the long ones joined; a nested workflow in between.
    requirements:
      - class: ScatterFeatureRequirement
      - class: SubworkflowFeatureRequirement
      - class: StepInputExpressionRequirement
      - class: InlineJavascriptRequirement
      - class: MultipleInputFeatureRequirement
    inputs: {texts: "File[]", least: {type: int, default: 2}}
    outputs:
      lines: {type: int, outputSource: sum/sum}
      joined: {type: File, outputSource: join/joined}
      seen: {type: File, outputSource: inspect/seen}
    steps:
      count: {run: "#count", scatter: text, in: {text: texts}, out: [lines]}
      sum: {run: "#sum", in: {numbers: count/lines}, out: [sum]}
      upper:
        run: "#upper"
        scatter: [text, lines]
        scatterMethod: dotproduct
        when: $(inputs.lines >= inputs.least)
        in: {text: texts, lines: count/lines, least: least}
        out: [big]
      join:
        run: "#join"
        in: {texts: {source: upper/big, pickValue: all_non_null}}
        out: [joined]
      inspect:
        run:
          class: Workflow
          inputs: {text: File}
          outputs: {seen: {type: File, outputSource: look/seen}}
          steps:
            index: {run: "#index", in: {text: text}, out: [indexed, letters]}
            look: {run: "#look", in: {indexed: index/indexed, letters: index/letters}, out: [seen]}
        in: {text: join/joined}
        out: [seen]
