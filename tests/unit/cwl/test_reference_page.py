"""The examples of the reference page are right, and there is one for every extension field."""

import re
from pathlib import Path

import pytest

from sluice.cwl import compile_template
from sluice.cwl.properties.extension_fields import FIELDS

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "templates.md").read_text()
BLOCKS = re.findall(r"```yaml (\w+)\n(.*?)```", PAGE, re.DOTALL)
WHOLE = next(body for kind, body in BLOCKS if kind == "template")
#: What each kind of fragment is put behind.
HOMES = {
    "workflow": "class: Workflow\n",
    "step": "    scatter: file\n",
    "merge": "  join:                 # merge: it takes the data set as File[]\n",
    "steps": "steps:\n",
    "output": "    outputSource: join/joined\n",
}


def test_the_whole_template_has_nothing_to_find_fault_with() -> None:
    compiled = compile_template(WHOLE, name="t")
    assert [
        str(finding) for finding in compiled.findings if "run_number" not in finding.message
    ] == []


@pytest.mark.parametrize(("kind", "body"), [block for block in BLOCKS if block[0] != "template"])
def test_each_example_compiles(kind: str, body: str) -> None:
    home = HOMES[kind]
    assert home in WHOLE
    indent = {"workflow": "", "steps": "  "}.get(kind, "    ")
    fragment = "".join(f"{indent}{line}\n" for line in body.splitlines())
    compiled = compile_template(WHOLE.replace(home, home + fragment), name="t")
    assert compiled.plan is not None, compiled.errors
    assert compiled.plan != compile_template(WHOLE, name="t").plan


def test_every_extension_field_has_an_example() -> None:
    shown = "".join(body for kind, body in BLOCKS if kind != "template")
    assert [name for name in FIELDS if f"sluice:{name}:" not in shown] == []
