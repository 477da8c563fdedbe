# A directory of each job, used by a second step, a list of directories, and one directory made of all.
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {texts: "File[]"}
outputs:
  trees: {type: "Directory[]", outputSource: grow/tree}
  all: {type: Directory, outputSource: gather/all}
  page: {type: File, outputSource: list/page}
steps:
  split:
    scatter: text
    in: {text: texts}
    out: [parts]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'mkdir -p "$2/deep er/empty" && split -l 2 "$1" "$2/deep er/p." && echo "$2" > "$2/name"', sh]
      inputs: {text: {type: File, inputBinding: {position: 1}}}
      arguments: [{valueFrom: $(inputs.text.nameroot), position: 2}]
      outputs: {parts: {type: Directory, outputBinding: {glob: $(inputs.text.nameroot)}}}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  grow:
    scatter: tree
    in: {tree: split/parts}
    out: [tree]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'cp -RL "$1" "$2" && find "$2" -type f | sort > list && mv list "$2/files"', sh]
      inputs: {tree: {type: Directory, inputBinding: {position: 1}}}
      arguments: [{valueFrom: $(inputs.tree.basename).grown, position: 2}]
      outputs: {tree: {type: Directory, outputBinding: {glob: "*.grown"}}}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  gather:
    in: {trees: split/parts}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'mkdir all && for each in "$@"; do cp -RL "$each" all/; done', sh]
      inputs: {trees: {type: "Directory[]", inputBinding: {}}}
      outputs: {all: {type: Directory, outputBinding: {glob: all}}}
      requirements: {ToolTimeLimit: {timelimit: 60}}
  list:
    in: {trees: grow/tree, all: gather/all}
    out: [page]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, '(cd "$0" && find . | sort); for each in "$@"; do cat "$each/files"; done']
      inputs: {all: {type: Directory, inputBinding: {position: 1}}, trees: {type: "Directory[]", inputBinding: {position: 2}}}
      outputs: {page: stdout}
      stdout: page.txt
      requirements: {ToolTimeLimit: {timelimit: 60}}
