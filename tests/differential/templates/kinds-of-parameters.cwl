# Parameters beside the data set: a directory, a missing directory, a file with secondary files,
# lists of those, directories, and a default file; they are shared by all jobs, scattered over,
# merged, chosen, read by expressions, and passed on.
cwlVersion: v1.2
class: Workflow
requirements:
  InlineJavascriptRequirement: {}
  MultipleInputFeatureRequirement: {}
  ScatterFeatureRequirement: {}
  StepInputExpressionRequirement: {}
inputs:
  texts: File[]
  tree: Directory
  absent: Directory?
  index: {type: File, secondaryFiles: [.idx, "^.note?", ".none?"]}
  marked: {type: "File[]", secondaryFiles: [.idx]}
  trees: Directory[]
  words: {type: File, default: {class: File, location: parts/words.txt}}
  title: {type: File?, default: {class: File, basename: title.txt, contents: "a title\n"}}
outputs:
  listed: {type: "File[]", outputSource: list/listed}
  whole: {type: File, outputSource: all/listed}
  beside: {type: "File[]", outputSource: beside/said}
  copied: {type: File, outputSource: copy/copied}
  kept: {type: Directory, outputSource: keep/kept}
  chosen: {type: Directory, outputSource: choose/kept}
  each: {type: "File[]", outputSource: each/said}
  roots: {type: "Directory[]", outputSource: roots/kept}
  matched: {type: "File[]", outputSource: match/matched}
  named: {type: File, outputSource: once/said}
steps:
  list:                 # a directory for each job
    scatter: text
    in: {text: texts, tree: tree, absent: absent}
    out: [listed]
    run: &list
      class: CommandLineTool
      baseCommand: [sh, -c, 'echo "$1"; cd "$0" && find . | LC_ALL=C sort && cat $(find . -type f | LC_ALL=C sort)']
      arguments: [$(inputs.tree.path), $(inputs.tree.basename)]
      inputs: {text: File?, tree: Directory, absent: Directory?}
      outputs: {listed: stdout}
      stdout: '$(inputs.text ? inputs.text.nameroot : "all").listed'
      requirements: {ToolTimeLimit: {timelimit: 60}, InlineJavascriptRequirement: {}}
  all:                  # once
    in: {tree: tree}
    out: [listed]
    run: *list
  beside:               # what lies beside a file, and is found there
    scatter: text
    in: {text: texts, index: index}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'cd "$(dirname "$0")" && LC_ALL=C ls && cat *']
      arguments: [$(inputs.index.path)]
      inputs:
        text: File
        index: {type: File, secondaryFiles: [.idx, "^.note?"]}
      outputs: {said: stdout}
      stdout: $(inputs.text.nameroot).beside
      requirements: {ToolTimeLimit: {timelimit: 60}}
  copy:                 # a file with its others, given on
    in: {index: index}
    out: [copied]
    run:
      class: CommandLineTool
      baseCommand: "true"
      inputs: {index: {type: File, secondaryFiles: [.idx]}}
      outputs:
        copied:
          type: File
          secondaryFiles: [.idx]
          outputBinding: {glob: $(inputs.index.basename)}
      requirements:
        ToolTimeLimit: {timelimit: 60}
        InitialWorkDirRequirement: {listing: ["$(inputs.index)"]}
  keep:
    in: {tree: tree}
    out: [kept]
    run: &keep
      class: CommandLineTool
      baseCommand: [cp, -r]
      arguments: [$(inputs.tree.path), kept]
      inputs: {tree: Directory}
      outputs: {kept: {type: Directory, outputBinding: {glob: kept}}}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  choose:               # of one that is not given, and one that is made
    in: {tree: {source: [absent, keep/kept], pickValue: first_non_null}}
    out: [kept]
    run: *keep
  each:                 # files with others beside them, one a job
    scatter: index
    in: {index: marked}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.index), "$(inputs.index.secondaryFiles[0])"]
      inputs: {index: {type: File, secondaryFiles: [.idx]}}
      outputs: {said: stdout}
      stdout: $(inputs.index.nameroot).each
      requirements: {ToolTimeLimit: {timelimit: 60}}
  roots:                # directories, one a job
    scatter: tree
    in: {tree: trees}
    out: [kept]
    run:
      class: CommandLineTool
      baseCommand: [cp, -r]
      arguments: [$(inputs.tree.path), out-$(inputs.tree.basename)]
      inputs: {tree: Directory}
      outputs: {kept: {type: Directory, outputBinding: {glob: out-*}}}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  match:                # a file that comes by default
    scatter: text
    in: {text: texts, words: words}
    out: [matched]
    run:
      class: CommandLineTool
      baseCommand: [grep, -c, -f]
      inputs:
        words: {type: File, inputBinding: {position: 1}}
        text: {type: File, inputBinding: {position: 2}}
      successCodes: [0, 1]
      outputs: {matched: stdout}
      stdout: $(inputs.text.nameroot).$(inputs.words.basename)
      requirements: {ToolTimeLimit: {timelimit: 60}}
  once:                 # and one for an expression of a step, that runs once
    in:
      words: words
      title: title
      name: {source: words, valueFrom: "$(self.nameroot)"}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.title), $(inputs.words)]
      inputs: {words: File, title: File?, name: string}
      outputs: {said: stdout}
      stdout: $(inputs.name).$(inputs.title.basename)
      requirements: {ToolTimeLimit: {timelimit: 60}}
