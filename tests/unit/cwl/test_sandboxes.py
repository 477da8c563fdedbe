"""Which steps' jobs need a sandbox: those of which the template says so, where no container keeps
their tools anyway."""

from pathlib import Path

import pytest

from sluice.cwl import compile_template
from tests.unit.cwl.samples import edited, plan_of
from tests.unit.cwl.test_features import INVOKE
from tests.unit.cwl.test_nested_workflows import NESTED, ONE_LIST, WITH_FIELDS

#: One step, which runs a workflow of three tools in each job.
INSIDE = (Path(__file__).parents[2] / "differential" / "templates" / "nested.cwl").read_text()
LIMIT = "        ToolTimeLimit: {timelimit: 10}\n"
IMAGE = "DockerRequirement: {dockerPull: 'debian:12'}"
ON_WORKFLOW = ("doc: Counts", "sluice:sandbox: required\ndoc: Counts")


def saying(end: str) -> tuple[str, str]:
    """The edit that lets a step ask for a sandbox; ``end``: of the step, its last line so far."""
    return (end, f"{end}{end[: len(end) - len(end.lstrip())]}sluice:sandbox: required\n")


ON_COUNT = saying("    out: [number]\n")


def in_sandbox(*edits: tuple[str, str], **of: str) -> list[str]:
    """The steps whose jobs need one."""
    return [step.name for step in plan_of(edited(*edits, **of)).steps if step.needs.sandbox]


def test_a_step_asks_for_its_jobs_and_the_workflow_for_those_of_all_steps() -> None:
    assert in_sandbox() == []
    assert in_sandbox(ON_COUNT) == ["count"]
    assert in_sandbox(ON_WORKFLOW) == in_sandbox(ON_WORKFLOW, ON_COUNT) == ["count", "join"]


def test_a_step_that_asks_for_none_says_nothing_in_the_plan() -> None:
    """The release before reads it."""
    count, join = (step.model_dump(mode="json") for step in plan_of(edited(ON_COUNT)).steps)
    assert (count["sandbox"], "sandbox" in join) == (True, False)


def test_it_comes_down_to_the_steps_of_a_workflow_that_is_taken_apart() -> None:
    outer = saying("    out: [page, cut, same]\n")
    inner = saying("          out: [cut]\n")
    assert in_sandbox(WITH_FIELDS, outer, text=NESTED) == [
        "inside.top",
        "inside.deep.tails",
        "inside.deep.join",
    ]
    assert in_sandbox(WITH_FIELDS, inner, text=NESTED) == ["inside.top"]


def test_a_step_of_a_workflow_inside_a_job_cannot_have_its_own() -> None:
    whole = ("  inside:\n", "  inside:\n    when: $(inputs.count > 0)\n")
    inner = saying("          out: [cut]\n")
    compiled = compile_template(edited(WITH_FIELDS, whole, inner, ONE_LIST, text=NESTED), name="t")
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
def test_a_tool_that_has_to_run_in_a_container_needs_no_sandbox(
    edits: list[tuple[str, str]], needing: list[str]
) -> None:
    assert in_sandbox(ON_WORKFLOW, *edits) == needing


def test_a_workflow_inside_a_job_needs_one_unless_each_of_its_tools_has_a_container() -> None:
    outer = saying("    out: [cleaned, lines]\n")
    text = edited(WITH_FIELDS, outer, text=INSIDE)
    some = text.replace("{ToolTimeLimit", f"{{{IMAGE}, ToolTimeLimit")
    every = some.replace("{EnvVarRequirement", f"{{{IMAGE}, EnvVarRequirement")
    assert [in_sandbox(text=each) for each in (text, some, every)] == [["clean"], ["clean"], []]


def test_a_tool_that_only_the_job_knows_needs_one_whatever_stands_in_the_template() -> None:
    invoke = INVOKE.replace("{ToolTimeLimit", f"{{{IMAGE}, ToolTimeLimit")
    assert in_sandbox(ON_WORKFLOW, ("steps:\n", invoke)) == ["invoke", "count", "join"]
