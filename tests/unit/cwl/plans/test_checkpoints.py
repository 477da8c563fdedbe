"""Compilation of checkpoints: what the plan contains, and which templates are refused."""

import pytest

from sluice.contracts.jobs.checkpoints import Checkpoint
from sluice.contracts.jobs.needs import Needs
from sluice.cwl import compile_template
from tests.unit.cwl.samples import compile_plan, edit_text, remove_marks

BOUNDARY = "sluice:boundary: {minimum: 0.9}"
CHECKPOINT = "sluice:checkpoint: {files: [state/*], every: 30}"
TOOL = "      baseCommand: [head, -n]\n"


def compile_needs(*edits: tuple[str, str]) -> dict[str, Needs]:
    return {step.name: step.needs for step in compile_plan(edit_text(*edits)).steps}


def test_step_declares_checkpoint_files_and_interval() -> None:
    needs_by_step = compile_needs((BOUNDARY, CHECKPOINT))
    assert needs_by_step["count"].checkpoint == Checkpoint(files=["state/*"], every=30)
    assert needs_by_step["join"].checkpoint is None


def test_checkpoint_applies_to_one_step() -> None:
    count, join = (step.needs for step in compile_plan(edit_text((BOUNDARY, CHECKPOINT))).steps)
    assert count.checkpoint == Checkpoint(files=["state/*"], every=30)
    assert join.checkpoint is None


def test_tool_declares_the_checkpoint_unless_its_step_does() -> None:
    of_tool = (TOOL, f"{TOOL}      sluice:checkpoint: {{files: [model.pt]}}\n")
    assert compile_needs(of_tool)["count"].checkpoint == Checkpoint(files=["model.pt"])
    assert Checkpoint(files=["model.pt"]).every == 10
    assert compile_needs(of_tool, (BOUNDARY, CHECKPOINT))["count"].checkpoint == Checkpoint(
        files=["state/*"], every=30
    )
    [executable] = [
        one.tool for one in compile_plan(edit_text(of_tool)).steps if one.name == "count"
    ]
    assert "checkpoint" not in str(executable), "pilots would get the checkpoint field in the tool"


@pytest.mark.parametrize("more", ["sluice:warm: true", "sluice:flow: dataset"])
def test_checkpoint_combines_with_warm_workers_and_dataset_flow(more: str) -> None:
    assert compile_needs((BOUNDARY, f"{more}\n    {CHECKPOINT}"))["count"].checkpoint is not None


def test_merge_step_may_have_a_checkpoint() -> None:
    assert compile_needs(("sluice:merge: {files: 10}", CHECKPOINT))["join"].checkpoint is not None


# ruff: noqa: E501 - one case a line
REFUSED: dict[str, tuple[list[tuple[str, str]], str]] = {
    "no files": ([(BOUNDARY, "¦sluice:checkpoint: {}")], "files"),
    "an empty list": ([(BOUNDARY, "sluice:checkpoint: {¦files: []}")], "at least 1 item"),
    "no list": ([(BOUNDARY, "sluice:checkpoint: {¦files: state/*}")], "valid list"),
    "no mapping": ([(BOUNDARY, "¦sluice:checkpoint: true")], "is a mapping; sluice:checkpoint: {files: [state/*]"),
    "an absolute path": ([(BOUNDARY, "sluice:checkpoint: {¦files: [a, /etc/passwd]}")], "leaves the folder"),
    "a way up": ([(BOUNDARY, "sluice:checkpoint: {¦files: [state/../../*]}")], "leaves the folder"),
    "an expression": ([(BOUNDARY, "sluice:checkpoint: {¦files: [$(inputs.frame.nameroot).state]}")], "is an expression"),
    "all levels": ([(BOUNDARY, "sluice:checkpoint: {¦files: ['**/*.pt']}")], "has '**'"),
    "a slash too many": ([(BOUNDARY, "sluice:checkpoint: {¦files: [state/]}")], "is not a path"),
    "all the time": ([(BOUNDARY, "sluice:checkpoint: {files: [a], ¦every: 0.1}")], "greater than or equal to 1, not 0.1"),
    "an unknown word": ([(BOUNDARY, "sluice:checkpoint: {files: [a], ¦evry: 5}")], "has no field 'evry'; did you mean 'every'?"),
    "a workflow's": ([("doc: Counts", "¦sluice:checkpoint: {files: [a]}\ndoc: Counts")], "belongs to a step or its tool"),
    "a batch": ([(BOUNDARY, f"sluice:batch: {{files: 2}}\n    ¦{CHECKPOINT}")], "a batch runs its tool for one file after the other"),
    "an expression of the step": (
        [
            (BOUNDARY, f"¦{CHECKPOINT}"),
            ("      limit: limit\n", "      limit: {source: limit, valueFrom: $(inputs.limit)}\n"),
            ("requirements:\n", "requirements:\n  StepInputExpressionRequirement: {}\n"),
        ],
        "it has an expression ('when', 'valueFrom'), so that each job is a separate workflow",
    ),
    "a process of another class": (
        [
            ("    run:\n      class: CommandLineTool\n      baseCommand: [head, -n]\n",
             f"    ¦{CHECKPOINT}\n    run:\n      class: ExpressionTool\n      expression: ${{}}\n"),
            ("        limit: {type: int, inputBinding: {position: 1}}\n"
             "        frame: {type: File, inputBinding: {position: 2}}\n",
             "        limit: int\n        frame: File\n"),
            ("        number: stdout\n", "        number: File\n"),
            ("      requirements:\n        ToolTimeLimit: {timelimit: 10}\n  join",
             "      requirements: {InlineJavascriptRequirement: {}}\n  join"),
        ],
        "it runs a process of class ExpressionTool",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_checkpoint_is_refused_with_its_place(case: str) -> None:
    edits, message = REFUSED[case]
    text, places = remove_marks(edit_text(*edits))
    errors = compile_template(text, name="t").errors
    assert [(error.line, error.column) for error in errors] == places
    assert message in errors[0].message
