"""Compilation of warm workers: what the plan contains, and which templates are refused."""

import json

import pytest
from ruamel.yaml import YAML

from sluice.contracts.jobs.needs import Needs, Warm
from sluice.cwl import compile_template
from tests.unit.cwl.samples import LINEAR, compile_plan, edit_text, remove_marks

BOUNDARY = "sluice:boundary: {minimum: 0.9}"
WARM = (BOUNDARY, "sluice:warm: {key: [limit], idle: 60, jobs: 5}")
LIMIT = "ToolTimeLimit: {timelimit: 10}\n"


def compile_needs(*edits: tuple[str, str]) -> dict[str, Needs]:
    return {step.name: step.needs for step in compile_plan(edit_text(*edits)).steps}


def test_step_declares_the_key_and_lifetime_of_a_warm_worker() -> None:
    needs_by_step = compile_needs(WARM)
    assert needs_by_step["count"].warm == Warm(key=["limit"], idle=60, jobs=5)
    assert needs_by_step["join"].warm is None


@pytest.mark.parametrize("written", ["true", "{}"])
def test_warm_worker_without_key_serves_all_jobs(written: str) -> None:
    assert compile_needs((BOUNDARY, f"sluice:warm: {written}"))["count"].warm == Warm()


def test_warm_applies_to_one_step() -> None:
    count, join = (step.needs for step in compile_plan(edit_text(WARM)).steps)
    assert (count.warm is None, join.warm) == (False, None)


TOOL = "      baseCommand: [head, -n]\n"


@pytest.mark.parametrize(
    ("step", "warm"),
    [
        (BOUNDARY, Warm(key=["limit"])),
        ("sluice:warm: {idle: 7}", Warm(idle=7)),
        ("sluice:warm: false", None),
    ],
)
def test_tool_declares_a_warm_worker_unless_its_step_does(step: str, warm: Warm | None) -> None:
    of_tool = (TOOL, f"{TOOL}      sluice:warm: {{key: [limit]}}\n")
    assert compile_needs((BOUNDARY, step), of_tool)["count"].warm == warm
    [executable] = [
        one.tool for one in compile_plan(edit_text(of_tool)).steps if one.name == "count"
    ]
    assert "warm" not in str(executable), "pilots would get the warm field in the tool"


def test_warm_tool_applies_to_each_step_that_runs_it() -> None:
    documents = edit_text((TOOL, f"{TOOL}      sluice:warm: true\n"))
    whole = YAML(typ="safe").load(documents)
    tool = whole["steps"]["count"].pop("run") | {"id": "head"}
    whole["steps"]["count"]["run"] = "#head"
    again = {**whole["steps"]["count"], "in": {"frame": "count/number", "limit": "limit"}}
    whole["steps"]["again"] = again
    whole["steps"]["join"]["in"]["parts"] = "again/number"
    graph = {
        "cwlVersion": whole.pop("cwlVersion"),
        "$namespaces": whole.pop("$namespaces"),
        "$graph": [whole | {"id": "main"}, tool],
    }
    result = compile_template(json.dumps(graph), name="t")
    assert result.errors == []
    assert result.plan is not None
    assert [step.needs.warm for step in result.plan.steps] == [Warm(), Warm(), None]


# ruff: noqa: E501 - one case a line
REFUSED: dict[str, tuple[list[tuple[str, str]], str]] = {
    "a key that is no input": (
        [(BOUNDARY, "sluice:warm: {¦key: [limits]}")],
        "has no input 'limits'; did you mean 'limit'?",
    ),
    "an unknown word": (
        [(BOUNDARY, "sluice:warm: {¦keys: [limit]}")], "has no field 'keys'; did you mean 'key'?",
    ),
    "what the system says": ([(BOUNDARY, "sluice:warm: {¦kind: a}")], "has no field 'kind'"),
    "no jobs": ([(BOUNDARY, "sluice:warm: {¦jobs: 0}")], "greater than or equal to 1, not 0"),
    "not a word": ([(BOUNDARY, "¦sluice:warm: yes please")], "is a mapping"),
    "a workflow's": ([("doc: Counts", "¦sluice:warm: true\ndoc: Counts")], "belongs to a step"),
    "a tool's standard input": (
        [("baseCommand: [head, -n]", "sluice:warm: true\n      baseCommand: head\n      ¦stdin: $(inputs.frame.path)")],
        "its standard input brings the requests",
    ),
    "a key that is no input of a tool that says it itself": (
        [(TOOL, f"{TOOL}      sluice:warm: {{¦key: [limits]}}\n")], "has no input 'limits'",
    ),
    "a tool's boundary": ([(TOOL, f"{TOOL}      ¦sluice:boundary: {{}}\n")], "belongs to a step"),
    "standard input": (
        [WARM, ("baseCommand: [head, -n]", "baseCommand: head\n      ¦stdin: $(inputs.frame.path)")],
        "its standard input brings the requests",
    ),
    "a shell": (
        [WARM, (LIMIT, f"{LIMIT}        ¦ShellCommandRequirement: {{}}\n")], "is run by a shell",
    ),
    "a container": (
        [WARM, (LIMIT, f"{LIMIT}        ¦DockerRequirement: {{dockerPull: a}}\n")],
        "runs in a container",
    ),
    "a container as a hint for all": (
        [WARM, ("requirements:\n", "hints:\n  ¦DockerRequirement: {dockerPull: a}\nrequirements:\n")],
        "runs in a container",
    ),
    "inputs that are changed": (
        [WARM, (LIMIT, f"{LIMIT}        ¦InplaceUpdateRequirement: {{inplaceUpdate: true}}\n")],
        "changes its inputs",
    ),
    "an environment of the job": (
        [WARM, (LIMIT, f"{LIMIT}        EnvVarRequirement: {{envDef: {{¦A: $(inputs.limit)}}}}\n")],
        "its environment depends on the job",
    ),
    "an environment of the job, as a list": (
        [
            WARM,
            (LIMIT, f"{LIMIT}        EnvVarRequirement:\n          envDef:\n"
             "            - envName: A\n              ¦envValue: $(inputs.limit)\n"),
        ],
        "its environment depends on the job",
    ),
    "no program": (
        [WARM, ("    run:\n      class: CommandLineTool\n      baseCommand: [head, -n]\n",
                "    ¦run:\n      class: CommandLineTool\n      arguments: [head, -n]\n")],
        "has no baseCommand",
    ),
    "an expression of the step": (
        [
            WARM,
            ("      limit: limit\n", "      limit: {source: limit, ¦valueFrom: $(inputs.limit)}\n"),
            ("requirements:\n", "requirements:\n  StepInputExpressionRequirement: {}\n"),
        ],
        "the step has an expression",
    ),
    "a process of another class": (
        [
            ("    run:\n      class: CommandLineTool\n      baseCommand: [head, -n]\n",
             "    ¦sluice:warm: {}\n    run:\n      class: ExpressionTool\n      expression: ${}\n"),
            ("        limit: {type: int, inputBinding: {position: 1}}\n"
             "        frame: {type: File, inputBinding: {position: 2}}\n",
             "        limit: int\n        frame: File\n"),
            ("        number: stdout\n", "        number: File\n"),
            ("      requirements:\n        ToolTimeLimit: {timelimit: 10}\n  join",
             "      requirements: {InlineJavascriptRequirement: {}}\n  join"),
        ],
        "of class ExpressionTool; only a CommandLineTool stays loaded",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_tool_unfit_for_a_warm_worker_is_refused_with_its_place(
    case: str,
) -> None:
    edits, message = REFUSED[case]
    text, places = remove_marks(edit_text(*edits))
    errors = compile_template(text, name="t").errors
    assert [(error.line, error.column) for error in errors] == places
    assert message in errors[0].message


def test_warm_tool_may_have_a_constant_environment() -> None:
    fixed = (LIMIT, f"{LIMIT}        EnvVarRequirement: {{envDef: {{A: b$, C: '1'}}}}\n")
    assert compile_needs(WARM, fixed)["count"].warm is not None
    assert compile_template(LINEAR, name="t").plan is not None
