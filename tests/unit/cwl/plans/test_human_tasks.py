"""Compilation of human tasks: what the plan contains, and which templates are refused."""

import pytest

from sluice.contracts.common.states import InputMode, TaskMode
from sluice.contracts.human_tasks.ask import Ask, Show
from sluice.contracts.jobs.needs import Needs
from sluice.cwl import compile_template
from tests.unit.cwl.samples import compile_plan, edit_text

STEP = """steps:
  check:
    sluice:ask: {question: Is it sharp?, gold: known}
    scatter: page
    in: {page: frames, known: gold}
    out: [answer]
    run:
      class: Operation
      inputs: {page: File, known: File}
      outputs: {answer: File}
"""
HUMAN_TASK_EDITS = [
    ("inputs:\n  frames", "sluice:bind: {gold: 'asset:known@1'}\ninputs:\n  gold: File\n  frames"),
    ("  all:", "  answers: {type: 'File[]', outputSource: check/answer}\n  all:"),
]
OPERATION = STEP[STEP.index("    run:") :]


def make_human_task_template(*edits: tuple[str, str]) -> str:
    """Return the template with the human task, after these edits of the step."""
    step = STEP
    for old, new in edits:
        assert old in step, old
        step = step.replace(old, new)
    return edit_text(("steps:\n", step), *HUMAN_TASK_EDITS)


def list_template_errors(*edits: tuple[str, str]) -> list[tuple[int, int, str]]:
    """Return the line (counted from the step's first line), column and message of each error."""
    text = make_human_task_template(*edits)
    first = text.splitlines().index("  check:")
    errors = compile_template(text, name="t").errors
    return [((error.line or 0) - first, error.column or 0, error.message) for error in errors]


def test_human_task_is_a_map_step_with_a_gold_file_shared_by_all_items() -> None:
    step = compile_plan(make_human_task_template()).step("check")
    assert step.needs == Needs(ask=Ask(question="Is it sharp?", gold="known"))
    assert (step.mode, step.main_input.port) == (TaskMode.MAP, "page")
    assert [(side.port, side.mode) for side in step.inputs[1:]] == [("known", InputMode.ONE)]


def test_all_fields_of_sluice_ask_are_in_the_plan() -> None:
    ask_text = (
        "{question: Which?, answers: [cat, dog, yes], show: image, agree: 3, undo: false,"
        " gold: known, gold_every: 5, link: 30, instructions: Look., help: Look again.}"
    )
    step_needs = (
        compile_plan(make_human_task_template(("{question: Is it sharp?, gold: known}", ask_text)))
        .step("check")
        .needs
    )
    assert step_needs.ask == Ask(
        question="Which?",
        answers=["cat", "dog", "yes"],
        show=Show.IMAGE,
        agree=3,
        undo=False,
        gold="known",
        gold_every=5,
        link=30,
        instructions="Look.",
        help="Look again.",
    )


def test_language_and_labels_are_in_the_plan() -> None:
    ask_text = "{question: To msza?, gold: known, language: pl, labels: {yes: Tak, no: Nie}}"
    ask = (
        compile_plan(make_human_task_template(("{question: Is it sharp?, gold: known}", ask_text)))
        .step("check")
        .needs.ask
    )
    assert ask is not None
    assert (ask.language, ask.labels) == ("pl", {"yes": "Tak", "no": "Nie"})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("labels: {maybe: Może}", "labels: 'maybe' is not one of the answers"),
        ("labels: {yes: Tak, no: tak}", "two answers have the same label"),
        ("labels: {yes: 'No'}", "two answers have the same label"),
        ("labels: {yes: ''}", "an answer is 1 to 40 characters"),
        ("language: Polish language", "a language is a tag such as pl"),
    ],
)
def test_wrong_language_and_labels_are_refused(fields: str, message: str) -> None:
    edit = ("gold: known}", f"gold: known, {fields}}}")
    assert message in " ".join(error_message for _, _, error_message in list_template_errors(edit))


def test_human_task_ignores_workflow_wide_node_requirements() -> None:
    for_all = (
        "doc: Counts",
        "sluice:resources: {licence: 1}\nsluice:sandbox: required\ndoc: Counts",
    )
    check, count, _ = compile_plan(edit_text(("steps:\n", STEP), *HUMAN_TASK_EDITS, for_all)).steps
    assert (check.needs.named, check.needs.sandbox) == ({}, False)
    assert (count.needs.named, count.needs.sandbox) == ({"licence": 1.0}, True)


def test_sluice_ask_applies_to_one_step() -> None:
    check, count, join = (one.needs.ask for one in compile_plan(make_human_task_template()).steps)
    assert (check is None, count, join) == (False, None, None)


@pytest.mark.parametrize(
    ("written", "column", "message"),
    [
        ("{answers: [a, b]}", 5, "'sluice:ask' requires 'question'"),
        ("{question: Q, answers: [a, A]}", 31, 'answers: each stands once, not ["a", "A"]'),
        ("{question: Q, answers: [a]}", 31, "answers: list should have at least 2 items"),
        ("{question: Q, agree: 10}", 31, "agree: input should be less than or equal to 9"),
        ("{question: Q, gold_every: 1}", 31, "gold_every: input should be greater than"),
        ("{question: Q, show: video}", 31, "show: it is text, html or image, not 'video'"),
        ("{question: Q, aggree: 2}", 31, "has no field 'aggree'; did you mean 'agree'?"),
        ("{question: Q, link: 1.5}", 31, "link: input should be a valid integer, not 1.5"),
        ("{question: Q, undo: 1}", 31, "undo: input should be a valid boolean, not 1"),
        ("true", 5, "'sluice:ask' is a mapping; sluice:ask: {question:"),
    ],
)
def test_wrong_value_of_sluice_ask_is_refused_with_its_place(
    written: str, column: int, message: str
) -> None:
    errors = list_template_errors(("{question: Is it sharp?, gold: known}", written))
    assert errors[0][:2] == (2, column)
    assert message in errors[0][2]
    assert not any("does nothing" in each for _, _, each in errors), "the error is reported twice"


@pytest.mark.parametrize(
    "field",
    [
        "batch: {files: 2}",
        "gpu: {share: 0.5}",
        "merge: {files: 2}",
        "nodes: {site: prague}",
        "resources: {licence: 1}",
        "retry: {attempts: 2}",
        "sandbox: required",
        "warm: true",
    ],
)
def test_fields_for_pilot_jobs_are_refused_on_a_human_task(field: str) -> None:
    errors = list_template_errors(("    scatter:", f"    sluice:{field}\n    scatter:"))
    name = field.partition(":")[0]
    assert (
        3,
        5,
        f"'sluice:{name}' is for jobs that pilots run; step 'check' is done by people"
        " ('sluice:ask')",
    ) in errors


@pytest.mark.parametrize(
    ("name", "says"),
    [("ToolTimeLimit", "{timelimit: 5}"), ("ResourceRequirement", "{coresMin: 2}")],
)
@pytest.mark.parametrize("of_tool", [False, True])
def test_tool_requirements_are_refused_on_a_human_task(name: str, says: str, of_tool: bool) -> None:
    edit = ("    run:\n", f"    requirements: {{{name}: {says}}}\n    run:\n")
    if of_tool:
        edit = ("class: Operation\n", f"class: Operation\n      requirements: {{{name}: {says}}}\n")
    [(_, _, message)] = list_template_errors(edit)
    assert message == f"'{name}' is for tools; step 'check' is done by people ('sluice:ask')"


@pytest.mark.parametrize(
    ("edits", "place", "message"),
    [
        ([("gold: known}", "gold: knwn}")], (2, 42), "no input 'knwn'; did you mean 'known'?"),
        ([("gold: known}", "gold: page}")], (2, 42), "input 'page' of step 'check' gets one file"),
        ([(", gold: known", "")], (6, 5), "one more for what 'gold' names"),
        ([("answer: File", "answer: string")], (6, 5), "and one output, of type File"),
        ([("answer: File}", "answer: File, b: File}")], (6, 5), "and one output, of type File"),
        ([("    run:", "    when: $(inputs.page)\n    run:")], (7, 5), "has no expressions"),
        (
            [("    scatter:", "    sluice:invoke: true\n    scatter:")],
            (3, 5),
            "either people do it, or its files say what is run",
        ),
        (
            [("sluice:ask: {question: Is it sharp?, gold: known}", "sluice:rank: 2")],
            (6, 5),
            "'sluice:ask' where people are asked about each file, or",
        ),
    ],
)
def test_operation_that_cannot_be_a_human_task_is_refused(
    edits: list[tuple[str, str]], place: tuple[int, int], message: str
) -> None:
    errors = [each for each in list_template_errors(*edits) if message in each[2]]
    assert [each[:2] for each in errors] == [place]


def test_human_task_over_files_with_secondary_files_is_refused() -> None:
    """A page cannot show secondary files."""
    text = make_human_task_template().replace(
        "  frames: File[]", "  frames: {type: 'File[]', secondaryFiles: [.b]}"
    )
    messages = [error.message for error in compile_template(text, name="t").errors]
    assert "people are asked about plain files" in " ".join(messages)


def test_sluice_ask_on_a_tool_is_refused() -> None:
    edit = ("sluice:boundary: {minimum: 0.9}", "sluice:ask: {question: Q}")
    [error] = compile_template(edit_text(edit), name="t").errors
    assert "has 'sluice:ask', so people do it, and no tool: make its tool an" in error.message
    assert (error.line, error.column) == (
        edit_text(edit).splitlines().index(f"    {edit[1]}") + 1,
        5,
    )
    of_tool = (
        "      baseCommand: [head",
        "      sluice:ask: {question: Q}\n      baseCommand: [head",
    )
    [error] = compile_template(edit_text(of_tool), name="t").errors
    assert error.message == "'sluice:ask' belongs to a step, not here"
