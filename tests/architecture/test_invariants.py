"""Each invariant of the architecture has a test that tries to break it.

The test names the invariant in its name or docstring, or in the docstring of its module: "invariant
4".
"""

import ast
import re
from collections import defaultdict
from functools import cache

import pytest

from tests.architecture.long_tests import is_long, is_module_long
from tests.architecture.sources import TEST_FOLDERS, list_sources

#: Number → the invariant in short; docs/explanation/how-it-works.md has the full text.
INVARIANTS = {
    1: "one chain per data set and template version",
    2: "state and messages commit together; a message is applied once",
    3: "outputs enter the catalogue once, from the attempt that won",
    4: "no file is deleted that is needed, nor twice, nor outside its storage",
    5: "a task ends in exactly one way, and its counts add up",
    6: "a pilot stops a job before its lease ends; it is leased again only after",
    7: "any process can be killed, restarted, or run twice",
    8: "files keep their order",
    9: "services evaluate no expression of a template",
}

NAMED = re.compile(r"\binvariants?\s+(\d)(?:\s*(?:,|and)\s*(\d))*", re.IGNORECASE)
IN_A_NAME = re.compile(r"_invariant_(\d)")


@cache
def list_named_invariants() -> dict[int, list[str]]:
    """Map each number to the tests of ``make test`` that name it, also in their module."""
    tests_by_number: dict[int, list[str]] = defaultdict(list)
    for source in list_sources(*TEST_FOLDERS):
        if source.name.startswith("tests/architecture/"):
            continue
        functions = [
            node
            for node in source.nodes
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        tests = [
            node
            for node in functions
            if node.name.startswith("test_")
            and not is_long(source, node)
            and not is_module_long(source)
        ]
        for number in _list_numbers(source.tree) if tests else ():
            tests_by_number[number].append(source.name)
        for test in tests:
            for number in _list_numbers(test) | {
                int(number) for number in IN_A_NAME.findall(test.name)
            }:
                tests_by_number[number].append(f"{source.name}::{test.name}")
    return tests_by_number


def _list_numbers(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> set[int]:
    text = ast.get_docstring(node) or ""
    return {int(number) for match in NAMED.finditer(text) for number in re.findall(r"\d", match[0])}


@pytest.mark.parametrize("number", INVARIANTS)
def test_every_invariant_has_a_test_that_names_it(number: int) -> None:
    tests_by_number = list_named_invariants()
    assert tests_by_number[number], f"no test names invariant {number}: {INVARIANTS[number]}"


def test_tests_name_only_known_invariants() -> None:
    assert set(list_named_invariants()) <= INVARIANTS.keys()
