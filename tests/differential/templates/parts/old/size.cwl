cwlVersion: v1.2
class: CommandLineTool
baseCommand: [cat]
arguments: [{valueFrom: "-n"}]
inputs: {text: {type: File, inputBinding: {position: 1}}}
stdout: $(inputs.text.basename)-$(runtime.ram)
outputs: {sized: stdout}
