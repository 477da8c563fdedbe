"""Requirements of a job order, added to the workflow's own."""

from pathlib import Path
from typing import Any

import pytest

from sluice.cli.job_orders.added_requirements import add_requirements
from sluice.clientkit.template_files import read_template_files
from sluice.contracts.common.problems import Unprocessable
from sluice.cwl import compile_template

TOOL = """\
cwlVersion: v1.2
class: CommandLineTool
requirements: REQUIREMENTS
inputs: {}
outputs: {out: stdout}
baseCommand: env
"""
ORDER = [{"class": "EnvVarRequirement", "envDef": {"KIND": "order"}}]


def add_requirements_to_tool(folder: Path, text: str, requirements: Any) -> str:
    (folder / "tool.cwl").write_text(text)
    files = add_requirements(read_template_files([folder / "tool.cwl"]), requirements)
    return files.upload.texts["tool.cwl"]


@pytest.mark.parametrize(
    "own",
    [
        "[]",
        "{}",
        "[{class: EnvVarRequirement, envDef: {KIND: own}}]",
        "{WorkReuse: {enableReuse: true}}",
    ],
)
@pytest.mark.parametrize("order", [ORDER, {"EnvVarRequirement": {"envDef": {"KIND": "order"}}}])
def test_requirements_of_a_job_order_replace_those_of_the_tool(
    tmp_path: Path, own: str, order: Any
) -> None:
    compiled = compile_template(
        add_requirements_to_tool(tmp_path, TOOL.replace("REQUIREMENTS", own), order), name="t"
    )
    assert compiled.plan is not None, compiled.findings
    requirements = compiled.plan.steps[0].tool["requirements"]
    variables = next(each for each in requirements if each["class"] == "EnvVarRequirement")
    assert variables["envDef"] == {"KIND": "order"}
    assert ("WorkReuse" in own) == any(each["class"] == "WorkReuse" for each in requirements)


def test_main_process_of_a_packed_document_gets_the_requirements(tmp_path: Path) -> None:
    tool = TOOL.replace("requirements: REQUIREMENTS\n", "").replace("cwlVersion: v1.2\n", "")
    items = "".join(
        f"  - id: {name}\n" + "".join(f"    {line}\n" for line in tool.splitlines())
        for name in ("'#other'", "'#main'")
    )
    text = add_requirements_to_tool(tmp_path, f"cwlVersion: v1.2\n$graph:\n{items}", ORDER)
    assert text.count("EnvVarRequirement") == 1
    assert text.index("EnvVarRequirement") > text.index("#main")
    without = text.replace("#main", "#last")
    with pytest.raises(Unprocessable, match="no process with the id 'main'"):
        add_requirements_to_tool(tmp_path, without, ORDER)


def test_text_that_is_not_yaml_is_left_to_the_check(tmp_path: Path) -> None:
    assert add_requirements_to_tool(tmp_path, f"{TOOL}x: [\n", ORDER) == f"{TOOL}x: [\n"


def test_imported_requirements_of_the_tool_are_kept(tmp_path: Path) -> None:
    (tmp_path / "more.yml").write_text("{class: WorkReuse, enableReuse: true}\n")
    text = add_requirements_to_tool(
        tmp_path, TOOL.replace("REQUIREMENTS", "[{$import: more.yml}]"), ORDER
    )
    assert "$import: more.yml" in text
    assert "KIND: order" in text


@pytest.mark.parametrize("order", ["EnvVarRequirement", [1], [{"envDef": {}}], 5])
def test_malformed_requirements_are_refused(tmp_path: Path, order: Any) -> None:
    with pytest.raises(Unprocessable, match="each with its class, or a mapping by class"):
        add_requirements_to_tool(tmp_path, TOOL.replace("REQUIREMENTS", "[]"), order)
