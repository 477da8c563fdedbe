"""Every test is run by a target of the Makefile, and a long test says why it is long.

``make test-long`` has tests whose property a cheaper test also checks, tests of the tests, and
tests with random examples again, on many more examples. No invariant of the architecture is tested
there only (``test_invariants.py``).
"""

import ast
import re
import tomllib

import pytest

from tests.architecture.long_tests import is_long, is_module_long, list_marks
from tests.architecture.sources import ROOT, TEST_FOLDERS, Source, list_sources


def test_make_test_long_runs_the_tests_that_make_test_leaves_out() -> None:
    assert '-m "not long" $(PYTEST_ARGS)' in _read_recipe("test")
    assert '-m "long or hypothesis"' in _read_recipe("test-long")


def test_pytest_collects_the_tests_of_sluice_and_of_each_pack() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    collected = {
        path
        for pattern in settings["tool"]["pytest"]["ini_options"]["testpaths"]
        for path in ROOT.glob(pattern)
    }
    packs = {path.parent for path in ROOT.glob("templates/*/pyproject.toml")}
    assert collected == {ROOT / "tests", *(pack / "tests" for pack in packs)}


def test_make_test_packs_runs_the_tests_of_one_pack_or_of_all_packs() -> None:
    assert '-m "not long" $(PYTEST_ARGS)' in _read_recipe("test-packs")
    assert "templates/$(or $(PACK),*)/tests" in _read_recipe("test-packs")


def _read_recipe(target: str) -> str:
    [recipe] = re.findall(rf"^{target}:.*?(?=\n\n|\Z)", _read_makefile(), re.MULTILINE | re.DOTALL)
    return str(recipe)


def _read_makefile() -> str:
    return (ROOT / "Makefile").read_text(encoding="utf-8")


def test_long_test_has_a_reason() -> None:
    used = [(source, mark) for source in list_sources(*TEST_FOLDERS) for mark in list_marks(source)]
    assert len(used) > 5, "no mark was found"
    places = [
        source.at(mark)
        for source, mark in used
        if not (isinstance(mark, ast.Call) and mark.args and ast.literal_eval(mark.args[0]))
    ]
    assert not places, "\n".join(
        ["name a shorter test of the property, or say why none is needed:", *places]
    )


def test_file_named_by_a_long_test_has_tests_that_are_not_long() -> None:
    for source in list_sources(*TEST_FOLDERS):
        for mark in list_marks(source):
            for name in re.findall(r"(?:templates/\w+/)?tests/[\w/]+\.py", ast.unparse(mark)):
                [named] = [one for one in list_sources(*TEST_FOLDERS) if one.name == name]
                assert not is_module_long(named), f"{source.at(mark)}: {name}"
                assert any(not is_long(named, test) for test in _list_tests(named)), (
                    f"{source.at(mark)}: {name}"
                )


def _list_tests(source: Source) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        node
        for node in source.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    ]


@pytest.mark.parametrize(
    ("text", "module", "test"),
    [
        ("pytestmark = pytest.mark.long('x')\ndef test_a(): pass", True, False),
        ("pytestmark = [pytest.mark.y, pytest.mark.long('x')]\ndef test_a(): pass", True, False),
        ("@pytest.mark.long('x')\ndef test_a(): pass", False, True),
        ("AGAIN = pytest.mark.long('x')\n@AGAIN\ndef test_a(): pass", False, True),
        ("@pytest.mark.y('x')\ndef test_a(): pass", False, False),
        (
            "@pytest.mark.parametrize('n', [1, pytest.param(2, marks=pytest.mark.long('x'))])\n"
            "def test_a(n): pass",
            False,
            False,
        ),
    ],
)
def test_long_modules_and_tests_are_recognized(text: str, module: bool, test: bool) -> None:
    source = Source("x.py", ast.parse(text))
    assert is_module_long(source) is module
    assert [is_long(source, one) for one in _list_tests(source)] == [test]
