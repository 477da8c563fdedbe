class: Workflow
inputs:
  frames: File[]
outputs: []
steps: []
