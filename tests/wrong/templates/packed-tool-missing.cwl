cwlVersion: v1.2
$graph:
- id: main
  class: Workflow
  inputs: {files: 'File[]'}
  outputs: {all: {type: File, outputSource: join/all}}
  steps:
    join: {run: '#joim', in: {files: files}, out: [all]}
- id: join
  class: CommandLineTool
  baseCommand: cat
  inputs: {files: 'File[]'}
  outputs: {all: stdout}
  arguments: [$(inputs.files)]
