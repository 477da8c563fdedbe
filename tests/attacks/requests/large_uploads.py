"""Make small uploads that would grow: one for each kind of growth that a short text can cause."""

import json
from collections.abc import Callable
from typing import Any

Files = dict[str, str]

TOOL: dict[str, Any] = {
    "class": "CommandLineTool",
    "baseCommand": "cat",
    "inputs": {"x": {"type": "File", "inputBinding": {}}},
    "outputs": {"y": "stdout"},
    "requirements": {"ToolTimeLimit": {"timelimit": 10}},
}


def make_workflow(steps: dict[str, Any], **requirements: Any) -> dict[str, Any]:
    return {
        "class": "Workflow",
        "requirements": {
            "ScatterFeatureRequirement": {},
            "SubworkflowFeatureRequirement": {},
            **requirements,
        },
        "inputs": {"files": "File[]"},
        "outputs": {"o": {"type": "File[]", "outputSource": f"{list(steps)[-1]}/y"}},
        "steps": steps,
    }


def make_step(run: Any, source: str = "files") -> dict[str, Any]:
    return {"scatter": "x", "in": {"x": source}, "out": ["y"], "run": run}


def pack_with_tools(main: dict[str, Any], *others: dict[str, Any]) -> Files:
    return {
        "w.cwl": json.dumps({"cwlVersion": "v1.2", "$graph": [{"id": "main", **main}, *others]})
    }


def make_single_file(main: dict[str, Any]) -> Files:
    return {"w.cwl": json.dumps({"cwlVersion": "v1.2", **main})}


def make_step_chain(number: int, *, backwards: bool = False) -> Files:
    order = range(number - 1, -1, -1) if backwards else range(number)
    main = make_workflow(
        {f"s{i}": make_step("#tool", f"s{i - 1}/y" if i else "files") for i in order}
    )
    main["outputs"]["o"]["outputSource"] = f"s{number - 1}/y"
    return pack_with_tools(main, {"id": "tool", **TOOL})


def _make_empty_file_list() -> Files:
    values = "[" + ",".join(["[" + ",".join(["[]"] * 900) + "]"] * 6) + "]"
    return make_single_file(make_workflow({"a": make_step(TOOL)})) | {
        f"d{i}.cwl": values for i in range(499)
    }


def _nest_workflows() -> Files:
    levels = [
        {
            "id": f"w{level}",
            "class": "Workflow",
            "inputs": {"x": "File"},
            "outputs": {"y": {"type": "File", "outputSource": "s0/y"}},
            "steps": {
                f"s{i}": {"in": {"x": "x"}, "out": ["y"], "run": f"#w{level + 1}"}
                for i in range(20)
            },
        }
        for level in range(4)
    ]
    return pack_with_tools(make_workflow({"a": make_step("#w0")}), *levels, {"id": "w4", **TOOL})


def _repeat_requirements() -> Files:
    listing = [{"entryname": f"f{i}", "entry": "$(inputs.x)"} for i in range(900)]
    main = make_workflow(
        {f"s{i}": make_step("#tool") for i in range(300)},
        InitialWorkDirRequirement={"listing": listing},
    )
    return pack_with_tools(main, {"id": "tool", **TOOL})


def _make_long_defaults() -> Files:
    default = {"class": "File", "basename": "x", "contents": "y" * 64_000}
    tool = TOOL | {"inputs": TOOL["inputs"] | {"d": {"type": "File", "default": default}}}
    return pack_with_tools(
        make_workflow({f"s{i}": make_step("#tool") for i in range(600)}), {"id": "tool", **tool}
    )


def _make_similar_names() -> Files:
    """Return a workflow whose wrong names would be compared with all right names."""
    long = "n" * 70
    tool = TOOL | {
        "inputs": TOOL["inputs"] | {f"{long}{i}": "int?" for i in range(200)},
        "arguments": [f"$(inputs.{long}z{i})" for i in range(990)],
    }
    return make_single_file(make_workflow({f"s{i}": make_step(tool) for i in range(10)}))


def _double_sources() -> Files:
    steps = {"s0": make_step("#tool")}
    for i in range(1, 40):
        steps[f"s{i}"] = make_step("#tool") | {
            "in": {"x": {"source": [f"s{i - 1}/y"] * 2, "linkMerge": "merge_flattened"}}
        }
    return pack_with_tools(
        make_workflow(steps, MultipleInputFeatureRequirement={}), {"id": "tool", **TOOL}
    )


#: Each upload with a part of its error message. Levels of nesting also count through several files.
REFUSED_UPLOADS: dict[str, tuple[Callable[[], Files], str]] = {
    "values in all files": (_make_empty_file_list, "values in all files up to here"),
    "workflows in workflows": (
        _nest_workflows,
        "values with what the steps up to here run",
    ),
    "requirements of every tool": (_repeat_requirements, "too much for a template"),
    "long defaults": (_make_long_defaults, "too much for a template"),
    "two thousand steps": (lambda: make_step_chain(2000), "more than 1000 entries"),
    "two thousand levels": (lambda: {"w.cwl": "[" * 2000}, "levels of nesting"),
    "levels through files": (
        lambda: (
            {
                "w.cwl": json.dumps(
                    {
                        "cwlVersion": "v1.2",
                        **make_workflow({"a": make_step(TOOL)}),
                        "doc": {"$import": "l0.yml"},
                    }
                )
            }
            | {f"l{i}.yml": "[" * 50 + f"{{$import: l{i + 1}.yml}}" + "]" * 50 for i in range(14)}
            | {"l14.yml": "1"}
        ),
        "levels of nesting with this file",
    ),
}


def _make_many_inputs() -> Files:
    """Return a workflow whose tool would be repeated for each input."""
    tool = TOOL | {"arguments": [f"a{i}" for i in range(990)], "doc": ["abc" * 200] * 990}
    one = make_step(tool) | {
        "when": "$(inputs.x)",
        "in": {"x": "files"} | {f"e{i}": "files" for i in range(400)},
    }
    return make_single_file(make_workflow({"a": one}, InlineJavascriptRequirement={}))


def _pass_inputs_through() -> Files:
    inner = make_workflow({"t": make_step("#tool", "x")}) | {
        "id": "inner",
        "inputs": {"x": "File[]"},
        "outputs": {
            "y": {"type": "File[]", "outputSource": "x"},
            "z": {"type": "File[]", "outputSource": "t/y"},
        },
    }
    steps = {
        f"s{i}": {"in": {"x": f"s{i - 1}/y" if i else "files"}, "out": ["y", "z"], "run": "#inner"}
        for i in range(250)
    }
    return pack_with_tools(
        make_workflow(steps | {"last": make_step("#tool", "s249/y")}), inner, {"id": "tool", **TOOL}
    )


#: Long uploads that are valid.
ACCEPTED_UPLOADS: dict[str, Callable[[], Files]] = {
    "steps in a row": lambda: make_step_chain(400),
    "names alike": _make_similar_names,
    "sources doubled": _double_sources,
    "steps in a row, backwards": lambda: make_step_chain(400, backwards=True),
    "inputs beside the tool's": _make_many_inputs,
    "handed through nested workflows": _pass_inputs_through,
    "files beside": lambda: (
        make_single_file(make_workflow({"a": make_step(TOOL)}))
        | {f"t{i}.txt": "a\n" * 2999 for i in range(499)}
    ),
}
