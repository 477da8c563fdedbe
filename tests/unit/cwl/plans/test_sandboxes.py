"""Rules that decide which steps need a sandbox."""

from pathlib import Path

import pytest

from sluice.cwl import compile_template
from tests.unit.cwl.documents.invocation_step import INVOKE
from tests.unit.cwl.plans.nested_samples import NESTED, ONE_LIST, WITH_FIELDS
from tests.unit.cwl.samples import compile_plan, edit_text

#: A step whose jobs run a workflow of three tools.
INSIDE = (Path(__file__).parents[3] / "differential" / "templates" / "nested.cwl").read_text()
LIMIT = "        ToolTimeLimit: {timelimit: 10}\n"
IMAGE = "DockerRequirement: {dockerPull: 'debian:12'}"
ON_WORKFLOW = ("doc: Counts", "sluice:sandbox: required\ndoc: Counts")


def make_sandbox_edit(end: str) -> tuple[str, str]:
    """Return an edit that adds sluice:sandbox behind ``end``, the last line of a step."""
    return (end, f"{end}{end[: len(end) - len(end.lstrip())]}sluice:sandbox: required\n")


ON_COUNT = make_sandbox_edit("    out: [number]\n")


def list_sandboxed_steps(*edits: tuple[str, str], **of: str) -> list[str]:
    """Return the steps whose jobs need a sandbox."""
    return [step.name for step in compile_plan(edit_text(*edits, **of)).steps if step.needs.sandbox]


def test_sandbox_is_required_by_a_step_or_by_the_workflow() -> None:
    assert list_sandboxed_steps() == []
    assert list_sandboxed_steps(ON_COUNT) == ["count"]
    assert (
        list_sandboxed_steps(ON_WORKFLOW)
        == list_sandboxed_steps(ON_WORKFLOW, ON_COUNT)
        == ["count", "join"]
    )


def test_sandbox_applies_to_one_step() -> None:
    count, join = (step.needs.sandbox for step in compile_plan(edit_text(ON_COUNT)).steps)
    assert (count, join) == (True, False)


def test_sandbox_of_a_nested_workflow_applies_to_its_steps() -> None:
    outer = make_sandbox_edit("    out: [page, cut, same]\n")
    inner = make_sandbox_edit("          out: [cut]\n")
    assert list_sandboxed_steps(WITH_FIELDS, outer, text=NESTED) == [
        "inside.top",
        "inside.deep.tails",
        "inside.deep.join",
    ]
    assert list_sandboxed_steps(WITH_FIELDS, inner, text=NESTED) == ["inside.top"]


def test_step_inside_a_single_job_cannot_require_a_sandbox() -> None:
    whole = ("  inside:\n", "  inside:\n    when: $(inputs.count > 0)\n")
    inner = make_sandbox_edit("          out: [cut]\n")
    compiled = compile_template(
        edit_text(WITH_FIELDS, whole, inner, ONE_LIST, text=NESTED), name="t"
    )
    assert [error.message for error in compiled.errors if "sandbox" in error.message] == [
        "'sluice:sandbox' belongs to a step or the workflow, not here: this one runs inside a job"
    ]


@pytest.mark.parametrize(
    ("edits", "needing"),
    [
        ([(LIMIT, f"{LIMIT}        {IMAGE}\n")], ["join"]),
        ([(LIMIT, f"{LIMIT}      hints:\n        {IMAGE}\n")], ["count", "join"]),
        ([("requirements:\n", f"requirements:\n  {IMAGE}\n")], []),
    ],
)
def test_tool_in_a_required_container_needs_no_sandbox(
    edits: list[tuple[str, str]], needing: list[str]
) -> None:
    assert list_sandboxed_steps(ON_WORKFLOW, *edits) == needing


def test_nested_job_needs_a_sandbox_unless_all_its_tools_have_containers() -> None:
    outer = make_sandbox_edit("    out: [cleaned, lines]\n")
    text = edit_text(WITH_FIELDS, outer, text=INSIDE)
    some = text.replace("{ToolTimeLimit", f"{{{IMAGE}, ToolTimeLimit")
    every = some.replace("{EnvVarRequirement", f"{{{IMAGE}, EnvVarRequirement")
    assert [list_sandboxed_steps(text=each) for each in (text, some, every)] == [
        ["clean"],
        ["clean"],
        [],
    ]


def test_invoked_tool_needs_a_sandbox_even_if_the_template_names_a_container() -> None:
    invoke = INVOKE.replace("{ToolTimeLimit", f"{{{IMAGE}, ToolTimeLimit")
    assert list_sandboxed_steps(ON_WORKFLOW, ("steps:\n", invoke)) == ["invoke", "count", "join"]
