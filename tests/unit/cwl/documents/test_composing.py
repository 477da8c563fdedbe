"""Composition of workflows from tools: connections, misfits, and compilation of the result."""

import json
from typing import Any

import pytest

from sluice.contracts.common.states import InputMode, TaskMode
from sluice.contracts.data.asset_refs import AssetRef
from sluice.contracts.templates.plan import Plan
from sluice.cwl import compile_template
from sluice.cwl.composing import ComposedWorkflow, LibraryTool, join_tools, read_tool, workflow_text
from sluice.cwl.composing.compose import fitting_tools

HEAD = {
    "cwlVersion": "v1.2",
    "class": "CommandLineTool",
    "requirements": {"ToolTimeLimit": {"timelimit": 10}},
    "baseCommand": "true",
}


def make_library_tool(inputs: dict[str, Any], outputs: dict[str, str], **more: Any) -> LibraryTool:
    """Return a tool with these inputs and with outputs given as types by name."""
    ports = {name: {"type": kind, "outputBinding": {"glob": "*"}} for name, kind in outputs.items()}
    library_tool, findings = read_tool(
        json.dumps({**HEAD, "inputs": inputs, "outputs": ports, **more}), file="tool.cwl"
    )
    assert library_tool is not None, findings
    return library_tool


LAYOUT = make_library_tool(
    {"page": "File", "scale": {"type": "float", "default": 0.5}}, {"regions": "File"}
)
READ = make_library_tool({"page": "File", "regions": "File"}, {"text": "File"})
JOIN = make_library_tool({"texts": "File[]"}, {"volume": "File"})


def join(*tools: LibraryTool) -> ComposedWorkflow:
    return join_tools([(f"t{number}", each) for number, each in enumerate(tools)])


def describe_misfits(*tools: LibraryTool) -> str:
    return "\n".join(join(*tools).misfits)


def compile_plan(*tools: LibraryTool) -> Plan:
    joined = join(*tools)
    assert joined.misfits == []
    text = workflow_text(joined, labels={step.name: f"{step.name} 1" for step in joined.steps})
    compiled = compile_template(text, name="t")
    assert compiled.plan is not None, (text, compiled.errors)
    return compiled.plan


def list_sources(plan: Plan, step: str) -> dict[str, tuple[str | None, str, InputMode]]:
    return {
        read.port: (read.source.step, read.source.port, read.mode)
        for read in plan.step(step).inputs
    }


def test_outputs_are_joined_to_inputs_by_name_and_type() -> None:
    plan = compile_plan(LAYOUT, READ, JOIN)
    assert plan.data_input == "page"
    assert list_sources(plan, "t0") == {"page": (None, "page", InputMode.EACH)}
    assert list_sources(plan, "t1") == {
        "page": (None, "page", InputMode.EACH),
        "regions": ("t0", "regions", InputMode.EACH),
    }
    assert list_sources(plan, "t2") == {"texts": ("t1", "text", InputMode.ALL)}
    assert [step.mode for step in plan.steps] == [TaskMode.MAP, TaskMode.MAP, TaskMode.MERGE]
    assert plan.parameters["scale"].default == 0.5
    assert [(output.name, output.step) for output in plan.outputs] == [("volume", "t2")]


def test_nearest_output_of_the_same_name_is_joined() -> None:
    again = make_library_tool({"text": "File"}, {"text": "File"})
    plan = compile_plan(LAYOUT, READ, again, again, JOIN)
    assert list_sources(plan, "t3")["text"][:2] == ("t2", "text")
    assert list_sources(plan, "t4")["texts"][:2] == ("t3", "text")


def test_file_formats_distinguish_outputs() -> None:
    space = {"$namespaces": {"edam": "http://edamontology.org/"}}
    ports = {
        name: {"type": "File", "format": f"edam:{name}", "outputBinding": {"glob": "*"}}
        for name in ("format_1", "format_2")
    }
    text = json.dumps({**HEAD, **space, "inputs": {"page": "File"}, "outputs": ports})
    two, _ = read_tool(text, file="two.cwl")
    assert two is not None
    second = make_library_tool(
        {"it": {"type": "File", "format": "edam:format_2"}}, {"out": "File"}, **space
    )
    plan = compile_plan(two, second)
    assert list_sources(plan, "t1") == {"it": ("t0", "format_2", InputMode.EACH)}
    third = make_library_tool(
        {"it": {"type": "File", "format": "edam:format_3"}}, {"out": "File"}, **space
    )
    assert (
        "takes File of format edam:format_3, but no earlier step has such an output"
        in describe_misfits(two, third)
    )


def test_single_output_feeds_an_input_that_takes_a_list() -> None:
    plan = compile_plan(LAYOUT, JOIN_ALL, JOIN)
    assert list_sources(plan, "t2")["texts"][:2] == ("t1", "all")


JOIN_ALL = make_library_tool({"parts": "File[]"}, {"all": "File"})


def test_optional_output_feeds_an_input_that_takes_a_list() -> None:
    plan = compile_plan(make_library_tool({"page": "File"}, {"text": "File?"}), JOIN)
    assert plan.step("t0").outputs[0].optional
    assert list_sources(plan, "t1") == {"texts": ("t0", "text", InputMode.ALL)}


def test_bindings_and_step_fields_of_a_tool_move_to_the_workflow() -> None:
    bound = make_library_tool(
        {"page": "File", "config": "Directory"},
        {"regions": "File"},
        **{
            "$namespaces": {"sluice": "urn:sluice:cwl:"},
            "sluice:bind": {"config": "asset:layout"},
            "sluice:retry": {"attempts": 7},
        },
    )
    plan = compile_plan(bound, READ)
    assert plan.assets == {"config": AssetRef(name="layout")}
    assert plan.step("t0").retry.attempts == 7
    assert plan.step("t0").needs.folders == {"config": "layout"}
    bind = {"$namespaces": {"sluice": "urn:sluice:cwl:"}, "sluice:bind": {"config": "asset:ocr"}}
    inputs = {"regions": "File", "config": "Directory"}
    twice = compile_plan(bound, make_library_tool(inputs, {"out": "File"}, **bind))
    assert {name: ref.name for name, ref in twice.assets.items()} == {
        "t0_config": "layout",
        "t1_config": "ocr",
    }


def test_file_input_without_a_source_becomes_a_parameter() -> None:
    plan = compile_plan(make_library_tool({"page": "File", "model": "File"}, {"text": "File"}))
    assert plan.file_parameters == ["model"]


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        ([LAYOUT, make_library_tool({"folder": "Directory"}, {"o": "File"})],
         "step t1: its input 'folder' takes Directory, but no earlier step has such an output:"
         " there is 'regions' of t0 (File[])"),
        ([make_library_tool({"n": "int"}, {"o": "File"})],
         "step t0: it is the first, and none of its inputs takes the data set"),
        ([make_library_tool({"page": "File"}, {"a": "File", "b": "File"}),
          make_library_tool({"it": "File"}, {"o": "File"})],
         "its input 'it' (File) could be 'a' of t0 or 'b' of t0"),
        ([LAYOUT, make_library_tool({"n": "int"}, {"o": "File"})],
         "step t1: it takes no output of an earlier step"),
        ([LAYOUT, make_library_tool({"regions": "File"}, {"o": "File"}, cwlVersion="v1.0")],
         "tools of different versions of CWL cannot be joined"),
        ([LAYOUT, make_library_tool({"regions": "File"}, {"n": "int"})],
         "step t1: it has no output file"),
    ],
)  # fmt: skip
def test_misfit_names_the_step_and_the_reason(tools: list[LibraryTool], reason: str) -> None:
    assert reason in describe_misfits(*tools)


def test_fitting_lists_the_tools_that_can_follow() -> None:
    library = {
        "read": READ,
        "join": JOIN,
        "folder": make_library_tool({"f": "Directory"}, {"o": "File"}),
    }
    assert fitting_tools([("layout", LAYOUT)], library) == ["read", "join"]
    assert fitting_tools([], library) == ["read", "join", "folder"]


def test_repeated_tool_gets_a_second_step_name() -> None:
    joined = join_tools([("a.b", LAYOUT), ("clean", READ), ("clean", READ)])
    assert [step.name for step in joined.steps] == ["a_b", "clean", "clean_2"]


def test_comments_of_a_tool_are_kept() -> None:
    text = "# Says yes.\ncwlVersion: v1.2\nclass: CommandLineTool\nbaseCommand: yes  # a word\n"
    library_tool, findings = read_tool(
        text + "inputs: {f: File}\noutputs: {o: stdout}\n", file="yes.cwl"
    )
    assert not findings
    assert library_tool is not None
    assert "# Says yes." in library_tool.body
    assert "# a word" in library_tool.body
    assert "cwlVersion" not in library_tool.body


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class: Workflow\n", "the library has CommandLineTools only"),
        ("[1]\n", "the library has CommandLineTools only"),
        ("a: [\n", "not YAML"),
        ("class: CommandLineTool\ninputs: {$import: a.yml}\n", "'$import': a tool of the library"),
        ("class: CommandLineTool\nsluice:match: {a: b}\n", "'sluice:match' does not belong"),
        ("class: CommandLineTool\nsluice:bind: {a: asset:b}\n", "the prefix 'sluice' is not"),
        ("class: CommandLineTool\nsluice:bind: {a: asset:b}\n", "the tool has no input 'a'"),
        pytest.param("x" * 300_000, "at most 262144 bytes", id="long"),
    ],
)
def test_invalid_tool_is_refused(text: str, message: str) -> None:
    library_tool, findings = read_tool(text, file="tool.cwl")
    assert library_tool is None
    assert any(message in finding.message and finding.file == "tool.cwl" for finding in findings)
