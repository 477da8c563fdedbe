cwlVersion: v1.2
class: Workflow
label: Word count
doc: Splits each text into words, and counts the words of all of them together.
$namespaces: {sluice: "urn:sluice:cwl:"}

requirements:
  ScatterFeatureRequirement: {}

inputs:
  texts:
    type: File[]
    doc: The data set; one job of the first step for each file.

outputs:
  counts:
    type: File
    outputSource: count/counts

steps:
  words:
    label: One word a line
    scatter: text # a step that scatters over the data set: map
    in: {text: texts}
    out: [words]
    sluice:boundary: {minimum: 0.5, sufficient: 1.0} # continues when at least half of the texts could be read
    run:
      class: CommandLineTool
      baseCommand: [tr, -cs, "[:alpha:]", "\\n"]
      inputs:
        text: File
      requirements:
        ToolTimeLimit: {timelimit: 60}
      stdin: $(inputs.text.path)
      stdout: $(inputs.text.nameroot).words
      outputs:
        words: stdout

  count:
    label: Count
    in: {parts: words/words} # a step that takes the data set whole: merge
    out: [counts]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'cat "$@" | tr A-Z a-z | grep . | sort | uniq -c | sort -k 1,1nr -k 2', count]
      inputs:
        parts: File[]
      arguments: [$(inputs.parts)]
      stdout: counts.txt
      outputs:
        counts: stdout
      requirements:
        EnvVarRequirement: {envDef: {LC_ALL: C}}
        ToolTimeLimit: {timelimit: 60}
