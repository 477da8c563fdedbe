cwlVersion: v1.2
class: Workflow
label: Looked at
doc: Has people look at every file; two of them have to say the same.

$namespaces:
  sluice: "urn:sluice:cwl:"

sluice:match:
  sluice:type: look

requirements:
  ScatterFeatureRequirement: {}

inputs:
  files:
    type: File[]

outputs:
  answers:
    type: File[]
    outputSource: look/answer

steps:
  look:
    sluice:ask: {question: Which one is it?, answers: [odd, even], agree: 2, link: 7}
    scatter: file
    in:
      file: files
    out: [answer]
    run:
      class: Operation
      inputs:
        file: File
      outputs:
        answer: File
