cwlVersion: v1.2
class: Workflow
inputs: {text: File}
outputs: {listed: {type: File, outputSource: list/listed}}
steps:
  make: {in: {text: text}, out: [folder], run: folder.cwl}
  list: {in: {folder: make/folder}, out: [listed], run: list.cwl}
