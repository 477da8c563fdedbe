"""Changes between versions of a template, shown before it is published."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.templates.plan import Plan
from sluice.contracts.templates.templates import Change
from sluice.cwl import compile_upload, take_files
from wfms.operator.templates.domain.plan_changes import compare_plans
from wfms.operator.templates.domain.text_changes import MAX_LINES, compare_files

BEFORE = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
sluice:match: {type: raw, run: {minimum: 3}}
requirements: {ScatterFeatureRequirement: {}, ToolTimeLimit: {timelimit: 60}}
inputs:
  texts: File[]
  gain: {type: float, default: 1.5}
  mask: string
outputs:
  all: {type: "File[]", outputSource: clean/out}
steps:
  clean:
    scatter: text
    in: {text: texts, gain: gain, mask: mask}
    out: [out]
    sluice:retry: {attempts: 3}
    run:
      class: CommandLineTool
      baseCommand: [clean, --fast]
      inputs: {text: {type: File, inputBinding: {}}, gain: float, mask: string}
      stdout: out.txt
      outputs: {out: stdout}
"""
JOIN = """\
  join:
    in: {parts: clean/out}
    out: [joined]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.parts)]
      inputs: {parts: "File[]"}
      stdout: joined.txt
      outputs: {joined: stdout}
"""
#: Beginning of a change of the tool's command.
COMMAND = "step clean changed: its tool's baseCommand: "


def compile_plan(text: str) -> Plan:
    plan = compile_upload(take_files({"workflow.cwl": text}), name="flow").compiled.plan
    assert plan is not None
    return plan


def list_changes(before: str | None, after: str) -> list[str]:
    changes = compare_plans(None if before is None else compile_plan(before), compile_plan(after))
    return [
        f"{change.part} {change.name} {change.change}: {'; '.join(change.details)}"
        for change in changes
    ]


def test_equal_plans_have_no_changes() -> None:
    assert list_changes(BEFORE, BEFORE + "# a remark\n") == []
    plan = compile_plan(BEFORE)
    stored = Plan.model_validate(
        json.loads(plan.model_dump_json(), object_pairs_hook=lambda pairs: dict(sorted(pairs)))
    )
    assert compare_plans(stored, plan) == [], (
        "PostgreSQL changes the order of the fields of objects"
    )


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("type: raw", "type: [raw, hot]", "match type changed: is raw → is one of raw, hot"),
        ("type: raw, ", "", "match type removed: is raw"),
        ("type: raw,", "type: raw, site: a,", "match site added: is a"),
        ("inputs:\n", "sluice:priority: 7\ninputs:\n", "template priority changed: 0 → 7"),
        (
            "inputs:\n",
            "sluice:retention: {input: keep}\ninputs:\n",
            "template retention changed: intermediate data are deleted when a chain has finished;"
            " the input stays; logs of steps without failed jobs are deleted, too, but not of the"
            " steps that write the output",
        ),
        (
            "inputs:\n",
            "sluice:require: {files: 3}\ninputs:\n",
            "template require files added: is 3",
        ),
        ("default: 1.5", "default: 2", "parameter gain changed: default: 1.5 → 2"),
        (
            "mask: string\n",
            "mask: string?\n",
            "parameter mask changed: default: none, it has to be given → none",
        ),
        (
            "inputs:\n",
            "sluice:bind: {mask: m}\ninputs:\n",
            "parameter mask changed: taken from metadata: none → m",
        ),
        (
            "clean/out}",
            "clean/out, sluice:collect: corpus}",
            "output all changed: clean/out, a list → clean/out, a list, collected in corpus",
        ),
        ("attempts: 3", "attempts: 5", "step clean changed: retry.attempts: 3 → 5"),
        (
            "--fast",
            "--slow",
            COMMAND + '["clean", "--fast"] → ["clean", "--slow"]',
        ),
    ],
)
def test_change_of_a_plan_is_described_in_words(old: str, new: str, change: str) -> None:
    assert list_changes(BEFORE, BEFORE.replace(old, new, 1)) == [change]


def test_new_trigger_is_described() -> None:
    before = BEFORE.replace("mask: string", "mask: string?", 1)
    after = before.replace("minimum: 3}}", "minimum: 3}, every: {files: 9}}", 1)
    assert list_changes(before, after) == ["match runs added: when 9 files are new"]


def test_added_and_removed_steps_and_outputs_are_described() -> None:
    after = (
        BEFORE.replace(
            '{type: "File[]", outputSource: clean/out}', "{type: File, outputSource: join/joined}"
        )
        + JOIN
    )
    assert list_changes(BEFORE, after) == [
        "step join added: merge",
        "output all changed: clean/out, a list → join/joined",
    ]
    assert list_changes(after, BEFORE) == [
        "step join removed: merge",
        "output all changed: join/joined → clean/out, a list",
    ]


def test_first_version_of_a_template_shows_everything_as_added() -> None:
    assert list_changes(None, BEFORE) == [
        "template retention added: intermediate data are deleted when a chain has finished; so is"
        " the input if it is a copy (`sluice run`, `sluice dataset register`); an input that was"
        " registered without a copy stays; logs of steps without failed jobs are deleted, too, but"
        " not of the steps that write the output",
        "match type added: is raw",
        "match run added: is at least 3",
        "parameter gain added: type float; default 1.5",
        "parameter mask added: type string; default none, it has to be given",
        "step clean added: map",
        "output all added: clean/out, a list",
    ]


LONG = "x" * 200


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (
            f"[clean, {LONG}, --fast]",
            f"[clean, {LONG}, --slow]",
            COMMAND + f'… {"x" * 14}", "--fast"] → … {"x" * 14}", "--slow"]',
        ),
        (
            f"[clean, {LONG}]",
            f"[clean, {LONG}, --slow]",
            COMMAND + f'… {"x" * 19}"] → … {"x" * 19}", "--slow"]',
        ),
        (
            f"[clean, --fast, {LONG}]",
            f"[clean, --slow, {LONG}]",
            COMMAND + f'["clean", "--fast", "{"x" * 59} … → ["clean", "--slow", "{"x" * 59} …',
        ),
    ],
)
def test_long_values_are_compared_whole_and_shown_where_they_differ(
    old: str, new: str, change: str
) -> None:
    before, after = (BEFORE.replace("[clean, --fast]", command) for command in (old, new))
    assert list_changes(before, after) == [change]


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (
            "{type: float, default: 1.0000001}",
            "{type: float, default: 1.0000002}",
            "1.0000001 → 1.0000002",
        ),
        ("{type: Any, default: 1}", '{type: Any, default: "1"}', '1 → "1"'),
        ("{type: Any, default: none}", "{type: Any, default: [none]}", 'none → ["none"]'),
        (
            f"{{type: Any, default: {LONG}a}}",
            f"{{type: Any, default: {LONG}b}}",
            f"… {'x' * 20}a → … {'x' * 20}b",
        ),
    ],
)
def test_defaults_that_look_alike_are_distinguished(old: str, new: str, change: str) -> None:
    before, after = (
        BEFORE.replace("{type: float, default: 1.5}", parameter) for parameter in (old, new)
    )
    assert list_changes(before, after) == [f"parameter gain changed: default: {change}"]


LABELS, MAINS = ("flow 1", "flow 2"), ("w.cwl", "w.cwl")
LINES = st.lists(st.sampled_from(["a", "b", "  c", "", "--- d", "@@ -1 +1 @@"]), max_size=40)


@given(before=LINES, after=LINES, shared=LINES)
def test_diff_turns_the_old_text_into_the_new_text(
    before: list[str], after: list[str], shared: list[str]
) -> None:
    old, new = (
        "".join(f"{line}\n" for line in [*shared, *lines, *shared]) for lines in (before, after)
    )
    changes = compare_files({"w.cwl": old}, {"w.cwl": new}, labels=LABELS, mains=MAINS)
    if old == new:
        assert changes == []
        return
    assert apply_diff(changes[0].diff, old.splitlines()) == new.splitlines()


def apply_diff(diff: str, lines: list[str]) -> list[str]:
    """Return ``lines`` with the diff applied at exactly the places that it names."""
    new_lines: list[str] = []
    done = 0
    for line in diff.splitlines()[2:]:
        if place := re.fullmatch(r"@@ -(\d+)(,0)?(?:,\d+)? \+\d+(?:,\d+)? @@", line):
            start = int(place[1]) - (not place[2])
            new_lines, done = new_lines + lines[done:start], start
        elif line.startswith("+"):
            new_lines.append(line[1:])
        else:
            assert lines[done] == line[1:]
            new_lines, done = new_lines + ([] if line.startswith("-") else [lines[done]]), done + 1
    return new_lines + lines[done:]


def test_added_and_removed_files_are_listed_after_the_workflow() -> None:
    before = {"flow/w.cwl": "1\n", "a.cwl": "x\n", "b.cwl": "same\n"}
    after = {"flow/w.cwl": "2\n", "b.cwl": "same\n", "0.cwl": "y\n"}
    changes = compare_files(before, after, labels=LABELS, mains=("flow/w.cwl", "flow/w.cwl"))
    assert [(change.path, change.change) for change in changes] == [
        ("flow/w.cwl", Change.CHANGED),
        ("0.cwl", Change.ADDED),
        ("a.cwl", Change.REMOVED),
    ]
    assert changes[0].diff == "--- flow 1: flow/w.cwl\n+++ flow 2: flow/w.cwl\n@@ -1 +1 @@\n-1\n+2"
    renamed = compare_files(
        {"old.cwl": "1\n"}, {"new.cwl": "1\n"}, labels=LABELS, mains=("old.cwl", "new.cwl")
    )
    assert renamed == [], "the name of a single file does not matter"


def test_long_texts_are_compared_unless_too_many_lines_change() -> None:
    long = [f"line {number % 97}" for number in range(50_000)]
    longer = "\n".join([*long[:40_000], "new", *long[40_000:]])
    [change] = compare_files(
        {"w.cwl": "\n".join(long)}, {"w.cwl": longer}, labels=LABELS, mains=MAINS
    )
    assert change.diff.splitlines()[2:] == [
        "@@ -39998,6 +39998,7 @@",
        *[f" line {n % 97}" for n in range(39_997, 40_000)],
        "+new",
        *[f" line {n % 97}" for n in range(40_000, 40_003)],
    ]
    other = "\n".join(str(number % 89) for number in range(MAX_LINES + 1))
    [change] = compare_files(
        {"w.cwl": "\n".join(long)}, {"w.cwl": other}, labels=LABELS, mains=MAINS
    )
    assert (
        change.diff == f"50000 lines become {MAX_LINES + 1}: too many for a comparison line by line"
    )
