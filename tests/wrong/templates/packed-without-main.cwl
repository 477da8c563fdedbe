cwlVersion: v1.2
$graph:
- {id: one, class: Workflow, inputs: [], outputs: [], steps: []}
- {id: two, class: Workflow, inputs: [], outputs: [], steps: []}
