"""Long lists in a template, and program names with blanks."""

import pytest

from sluice.cwl import compile_template

ITEMS = 51


TEXT = """\
cwlVersion: v1.2
class: Workflow
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs: {{texts: "File[]"}}
outputs: {{first: {{type: "File[]", outputSource: draw/plot_0}}}}
steps:
  draw:
    scatter: text
    in: {{text: texts}}
    out: [{out}]
    run:
      class: CommandLineTool
      baseCommand: draw
      requirements: {{ToolTimeLimit: {{timelimit: 60}}}}
      inputs: {{text: {{type: File, inputBinding: {{}}}}}}
      outputs: {{{ports}}}
"""


@pytest.mark.parametrize("item", ["{0}", "{{id: {0}}}"])
def test_step_may_have_more_than_fifty_outputs(item: str) -> None:
    names = [f"plot_{number}" for number in range(ITEMS)]
    out = ", ".join(item.format(name) for name in names)
    ports = ", ".join(
        f"{name}: {{type: File, outputBinding: {{glob: {name}.txt}}}}" for name in names
    )
    result = compile_template(TEXT.format(out=out, ports=ports), name="t")
    assert [str(finding) for finding in result.findings if finding.severity == "error"] == []


def test_blank_in_a_program_name_gives_a_warning() -> None:
    text = TEXT.format(out="plot_0", ports="plot_0: {type: File, outputBinding: {glob: a}}")
    result = compile_template(text.replace("baseCommand: draw", "baseCommand: draw -A"), name="t")
    [warning] = [finding for finding in result.findings if "blank in its name" in finding.message]
    assert (warning.line, warning.severity) == (13, "warning")
    assert "write 'baseCommand: [draw, -A]'" in warning.message
