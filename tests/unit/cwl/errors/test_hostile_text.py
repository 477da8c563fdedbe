"""The compiler refuses hostile text without an exception, a delay, or access to other files."""

import builtins
import socket
import time
from functools import cache
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.cwl import Compiled, compile_template
from tests.draws import count_examples
from tests.unit.cwl.errors.hostile_texts import HOSTILE, make_forty_steps
from tests.unit.cwl.samples import LINEAR, edit_text


def measure_cost(text: str) -> float:
    """Return the least processor time of three checks, in seconds.

    The minimum filters out the load of other programs.
    """
    return min(_measure_once(text) for _ in range(3))


def _measure_once(text: str) -> float:
    before = time.thread_time()
    compile_template(text, name="t")
    return time.thread_time() - before


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text_is_refused_quickly(case: str) -> None:
    text, message = HOSTILE[case]
    compile_template(LINEAR, name="t")  # import the libraries first
    compiled = compile_template(text, name="t")
    assert measure_cost(text) < 20 * measure_cost(LINEAR)  # the smallest template takes about 20 ms
    assert compiled.plan is None
    assert any(message in error.message for error in compiled.errors), compiled.errors[:3]
    assert all(error.line is not None and error.column is not None for error in compiled.errors)
    assert len(compiled.errors) <= 100


@pytest.mark.parametrize("is_wrong", [False, True])
def test_check_of_forty_steps_costs_at_most_forty_times_the_sample(is_wrong: bool) -> None:
    text = make_forty_steps()
    text = (
        text.replace("count7/number", "count7/numbr").replace("baseCommand: cat", "baseComand: cat")
        if is_wrong
        else text
    )
    compiled = compile_template(text, name="t")
    assert measure_cost(text) < 40 * measure_cost(LINEAR)
    assert len(compiled.errors) == (2 if is_wrong else 0)
    assert is_wrong or (compiled.plan is not None and len(compiled.plan.steps) == 40)


class OutsideTouchedError(BaseException):
    """A BaseException, so that no handler can hide the attempt."""


def refuse(*arguments: Any, **_: Any) -> NoReturn:
    raise OutsideTouchedError(str(arguments))


def compile_with_nothing_outside(text: str) -> Compiled:
    """Compile a text; any opened file or network access fails the test."""
    for version in ("v1.0", "v1.1", "v1.2"):  # the libraries read their schemas once
        compile_once(version)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        patch.setattr(builtins, "open", refuse)
        return compile_template(text, name="t")


@cache
def compile_once(version: str) -> None:
    compile_template(LINEAR.replace("v1.2", version), name="t")


@pytest.mark.parametrize(
    "edits",
    [
        [],
        [
            ("$namespaces:", "$namespaces:\n  s: https://schema.org/"),
            ("doc: Counts", "s:author: {s:name: x}\ndoc: Counts"),
        ],
        [("$namespaces:", "$schemas: [https://schema.org/version/latest.rdf]\n$namespaces:")],
        [
            (
                "requirements:\n  Scatter",
                "hints:\n  - class: http://example.org/ns#Fast\nrequirements:\n  Scatter",
            )
        ],
        [
            (
                "requirements:\n  Scatter",
                "requirements:\n  http://example.org/ns#Fast: {}\n  Scatter",
            )
        ],
        [("requirements:\n  Scatter", "requirements:\n  file:///etc/passwd: {}\n  Scatter")],
        [
            (
                "inputs:\n        parts: File[]",
                "inputs:\n        parts: http://example.org/types.yml#x",
            )
        ],
        [("inputs:\n        parts: File[]", "inputs:\n        parts: file:///etc/passwd#x")],
        [
            (
                "inputs:\n        parts: File[]",
                "inputs:\n        parts: {type: 'File[]', format: 'http://example.org/format'}",
            )
        ],
        [("      class: CommandLineTool\n", "      $import: http://example.org/tool.cwl\n")],
        [("doc: Counts and joins.", "doc: {$include: /etc/passwd}")],
        [("doc: Counts and joins.", "cwl:tool: http://example.org/tool.cwl\ncwl:requirements: []")],
        [("doc: Counts and joins.", "$base: http://example.org/")],
    ],
)
def test_compiler_reads_nothing_outside_the_text(edits: list[tuple[str, str]]) -> None:
    compiled = compile_with_nothing_outside(edit_text(*edits))
    assert (compiled.plan is None) == bool(compiled.errors)


PIECES = [
    "null",
    "[]",
    "{}",
    "5",
    "true",
    '""',
    "frames",
    "File[]",
    "[a, b]",
    "count/number",
    "$(x)",
    "#main",
    "*x",
    "&x",
    "<<",
    "? ",
    "- ",
    ": ",
    "!!str",
    "1e999",
    "\u2028",
    "\ud800",
    "\0",
    "{class: File}",
    "$import",
    "$graph",
    "sluice:merge",
]

cuts = st.tuples(
    st.integers(0, len(LINEAR)), st.integers(0, 60), st.sampled_from(PIECES) | st.text(max_size=4)
)
lines = st.lists(st.tuples(st.integers(0, 55), st.integers(0, 55)), max_size=2)
values = st.lists(st.tuples(st.integers(0, 55), st.sampled_from(PIECES)), max_size=2)


@settings(max_examples=count_examples(150))
@given(st.lists(cuts, max_size=2), lines, values)
def test_mutated_template_raises_no_exception(
    edits: list[tuple[int, int, str]], swaps: list[Any], replaced: list[Any]
) -> None:
    rows = LINEAR.split("\n")
    for one, other in swaps:
        rows[one % len(rows)], rows[other % len(rows)] = (
            rows[other % len(rows)],
            rows[one % len(rows)],
        )
    for row, value in replaced:
        key, colon, _ = rows[row % len(rows)].partition(":")
        rows[row % len(rows)] = key + colon + " " + value
    text = "\n".join(rows)
    for start, length, piece in edits:
        text = text[:start] + piece + text[start + length :]
    compiled = compile_with_nothing_outside(text)
    assert (compiled.plan is None) == bool(compiled.errors)
    assert len({(f.file, f.line, f.column, f.message) for f in compiled.findings}) == len(
        compiled.findings
    )
