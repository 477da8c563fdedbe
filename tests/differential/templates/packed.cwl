{"cwlVersion": "v1.0", "$graph": [
  {"class": "CommandLineTool", "id": "#wc", "baseCommand": ["wc", "-l"], "stdin": "$(inputs.text.path)",
   "inputs": [{"id": "text", "type": "File"}], "outputs": [{"id": "lines", "type": "stdout"}], "stdout": "lines.txt"},
  {"class": "Workflow", "id": "#main", "requirements": [{"class": "ScatterFeatureRequirement"}],
   "inputs": [{"id": "#main/texts", "type": {"type": "array", "items": "File"}}],
   "outputs": [{"id": "#main/lines", "type": {"type": "array", "items": "File"}, "outputSource": "#main/count/lines"}],
   "steps": [{"id": "#main/count", "run": "#wc", "scatter": "#main/count/text",
              "in": [{"id": "#main/count/text", "source": "#main/texts"}], "out": ["#main/count/lines"]}]}]}
