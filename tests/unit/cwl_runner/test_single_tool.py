"""The fast reader of `sluice cwl-runner` agrees with cwltool, and leaves the rest to it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from sluice.contracts.jobs.gpus import GpuNeeds
from sluice.cwl import compile_template
from sluice.cwl_runner.single_tool import CwltoolRequired, read_simple_tool
from sluice.cwl_runner.template import InvocationNeeds

TOOL: dict[str, Any] = {
    "cwlVersion": "v1.2",
    "class": "CommandLineTool",
    "baseCommand": "cat",
    "inputs": {"text": {"type": "File?", "inputBinding": {}}, "n": {"type": "int?"}},
    "outputs": {"out": "stdout"},
}


def read(folder: Path, tool: Any, order: Any = None) -> tuple[dict[str, Any], InvocationNeeds]:
    (folder / "tool.cwl").write_text(tool if isinstance(tool, str) else json.dumps(tool))
    if order is not None:
        (folder / "order.yml").write_text(order if isinstance(order, str) else json.dumps(order))
    return read_simple_tool(
        folder / "tool.cwl", [str(folder / "order.yml")] if order is not None else []
    )


def test_paths_and_locations_are_relative_to_the_job_order(tmp_path: Path) -> None:
    for name in ("a b.txt", "c%20d.txt"):
        (tmp_path / name).write_text(name)
    order = {
        "text": {"class": "File", "location": "a%20b.txt"},
        "more": [{"class": "File", "path": "c%20d.txt"}],
        "n": 3,
    }
    invocation, needs = read(tmp_path, TOOL, order)
    assert (invocation["process"], needs) == (TOOL, InvocationNeeds())
    assert invocation["order"] == {
        "text": {
            "class": "File",
            "location": (tmp_path / "a b.txt").as_uri(),
            "basename": "a b.txt",
        },
        "more": [
            {
                "class": "File",
                "location": (tmp_path / "c%20d.txt").as_uri(),
                "basename": "c%20d.txt",
            }
        ],
        "n": 3,
    }


def test_requirements_of_a_tool_become_its_needs(tmp_path: Path) -> None:
    requirements = {
        "ResourceRequirement": {"coresMin": 2, "ramMax": 301, "outdirMin": 10},
        "ToolTimeLimit": {"timelimit": 7},
    }
    _, needs = read(tmp_path, TOOL | {"hints": requirements})
    assert needs == InvocationNeeds(cores=2.0, ram=301, disk=10, time_limit=7.0)
    other = InvocationNeeds(cores=1.0, ram=301, disk=10, time_limit=7.0)
    assert needs.name != other.name


@pytest.mark.parametrize(
    "needs",
    [
        InvocationNeeds(),
        InvocationNeeds(cores=0.5, ram=4096, disk=100, time_limit=60.0),
        InvocationNeeds(gpu='{"cudaComputeCapability": "8.0", "cudaDeviceCountMin": 2}'),
    ],
)
def test_template_of_invocations_compiles(needs: InvocationNeeds) -> None:
    compiled = compile_template(needs.text, name=needs.name)
    assert compiled.plan is not None, compiled.findings
    [step] = compiled.plan.steps
    assert (step.needs.resources.cores, step.needs.resources.ram, step.needs.resources.disk) == (
        needs.cores,
        needs.ram,
        needs.disk,
    )
    assert (
        step.needs.resources.time_limit,
        step.needs.gpus,
        step.boundary.minimum,
    ) == (
        needs.time_limit,
        GpuNeeds(least=2, most=2, capability="8.0") if needs.gpu else None,
        0.0,
    )


@pytest.mark.parametrize(
    ("tool", "order"),
    [
        ({"class": "Workflow"}, None),
        ({"class": "ExpressionTool"}, None),
        ({"cwlVersion": "v1.3"}, None),
        ({"requirements": {"DockerRequirement": {"dockerPull": "debian"}}}, None),
        ({"requirements": [{"class": "SchemaDefRequirement", "types": []}]}, None),
        ({"requirements": {"ResourceRequirement": {"coresMin": "$(inputs.n)"}}}, None),
        ({"inputs": {"text": {"type": "File?", "secondaryFiles": [".bai"]}}}, None),
        (
            {"inputs": {"text": {"type": "File", "default": {"class": "File", "location": "x"}}}},
            None,
        ),
        ({"inputs": {"text": {"type": "File?", "format": "edam:1"}}}, None),
        ({"inputs": {"n": "int"}}, None),
        ({"inputs": {"n": "int"}}, {"m": 1}),
        ({"inputs": {"n": {"type": "int"}}}, {"n": None}),
        ({"inputs": [{"id": "n", "type": ["int", "string"]}]}, None),
        ({"inputs": {"n": {"type": "array", "items": "int"}}}, None),
        ({"inputs": {"$import": "inputs.yml"}}, None),
        ({"$namespaces": {}}, None),
        ({}, {"text": {"class": "File", "location": "gone.txt"}}),
        ({}, {"text": {"class": "File", "location": "http://localhost/x"}}),
        ({}, {"text": {"class": "Directory", "location": "."}}),
        ({}, {"cwl:requirements": []}),
        ({}, "[1, 2]"),
        ({}, "n: 1\nn: 2\n"),
        ({}, "n: 012\n"),
        ({}, "n: &a 1\nm: !!python/object:os.system x\n"),
    ],
)
def test_unusual_tools_and_orders_are_left_to_the_full_reader(
    tool: dict[str, Any], order: Any, tmp_path: Path
) -> None:
    with pytest.raises(CwltoolRequired):
        read(tmp_path, TOOL | tool, order)


@pytest.mark.parametrize(
    ("inputs", "order"),
    [
        ({"n": "int?"}, None),
        ({"n": ["null", "int"]}, None),
        ({"n": {"type": "int", "default": 3}}, None),
        ({"n": "int"}, {"n": 3}),
        ([{"id": "n", "type": "int"}, {"id": "#m", "type": "int"}], {"n": 3, "m": 4}),
        ({}, None),
        ([], {"more": 1}),
    ],
)
def test_simple_inputs_are_read_by_the_fast_reader(inputs: Any, order: Any, tmp_path: Path) -> None:
    invocation, _ = read(tmp_path, TOOL | {"inputs": inputs}, order)
    assert invocation["order"] == (order or {})


def test_values_given_as_options_are_left_to_the_full_reader(tmp_path: Path) -> None:
    read(tmp_path, TOOL)
    for behind in (["--n", "3"], ["-"], ["order.yml", "--n=3"]):
        with pytest.raises(CwltoolRequired):
            read_simple_tool(tmp_path / "tool.cwl", behind)


@example("._")
@example("+._")
@example("0o_")
@example("-_")
@example("-.5")
@given(st.text("0123456789+-.:eExXoO_~<=nulNUtrueTRyYsofFa ", max_size=7))
def test_plain_values_are_read_as_yaml_reads_them(
    tmp_path_factory: pytest.TempPathFactory, written: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    text = f"n: {written}\n"
    try:
        ours = read(folder, TOOL, text)[0]["order"]
    except CwltoolRequired:  # for example numbers without digits, which the full reader refuses
        return
    theirs = YAML(typ="safe", pure=True).load(text)
    assert (ours, type(ours["n"])) == (theirs, type(theirs["n"]))
