"""The examples of the reference page compile, and each extension field has an example."""

import re
from pathlib import Path

import pytest

from sluice.cwl import compile_template
from sluice.cwl.properties.extension_fields import FIELDS

PAGE = (Path(__file__).parents[4] / "docs" / "reference" / "templates.md").read_text()
BLOCKS = re.findall(r"```yaml (\w+)\n(.*?)```", PAGE, re.DOTALL)
WHOLE = next(body for kind, body in BLOCKS if kind == "template")
#: The line of the whole template behind which each kind of fragment goes.
HOMES = {
    "workflow": "class: Workflow\n",
    "step": "    scatter: file\n",
    "merge": "  join:                 # merge: it takes the data set as File[]\n",
    "steps": "steps:\n",
    "output": "    outputSource: join/joined\n",
}


def test_complete_template_of_the_page_has_no_findings() -> None:
    compiled = compile_template(WHOLE, name="t")
    assert [
        str(finding) for finding in compiled.findings if "run_number" not in finding.message
    ] == []


@pytest.mark.parametrize(("kind", "body"), [block for block in BLOCKS if block[0] != "template"])
def test_example_of_the_page_compiles_and_changes_the_plan(kind: str, body: str) -> None:
    home = HOMES[kind]
    assert home in WHOLE
    indent = {"workflow": "", "steps": "  "}.get(kind, "    ")
    fragment = "".join(f"{indent}{line}\n" for line in body.splitlines())
    compiled = compile_template(WHOLE.replace(home, home + fragment), name="t")
    assert compiled.plan is not None, compiled.errors
    assert compiled.plan != compile_template(WHOLE, name="t").plan


def test_each_extension_field_has_an_example() -> None:
    shown = "".join(body for kind, body in BLOCKS if kind != "template")
    assert [name for name in FIELDS if f"sluice:{name}:" not in shown] == []
