"""The changes that ``scripts/mutation_check.py`` makes are valid Python and can be repeated."""

import ast
from pathlib import Path

import pytest

from scripts.mutation_check import ROOT, choose, list_changes, list_test_folders


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = 'ä' + x if x < 1 else 2\n", ["(not (x < 1))", "2", "3"]),
        ("a and not b\n", ["(a or not b)"]),
        ("save(x, fast=True)\n", ["pass", "False"]),
        ("await save(x)\n", ["pass"]),
        ("raise ValueError(f'{n} of {3}')\n", ["pass"]),
        ("n += 1\n", ["pass", "2"]),
        ("log.info('saved')\n", []),
        ("@frozen(True)\ndef f(x: 'L[1]') -> 'L[2]': ...\n", []),
    ],
)
def test_comparisons_constants_and_statements_are_changed(before: str, after: list[str]) -> None:
    changes = list(list_changes(Path("x.py"), before.encode()))
    assert [change.text for change in changes] == after
    for change in changes:
        changed = change.apply_to(before.encode()).decode()
        assert changed != before
        ast.parse(changed)


def test_same_seed_chooses_the_same_changes() -> None:
    chosen = choose("wms", seed=1, changes=10)
    assert chosen == choose("wms", seed=1, changes=10)
    assert chosen != choose("wms", seed=2, changes=10)
    for change in chosen:
        ast.parse(change.apply_to((ROOT / change.path).read_bytes()))


def test_package_has_the_tests_of_its_name_or_of_its_service() -> None:
    assert list_test_folders("wfms/chains") == ["tests/unit/wfms/chains", "tests/integration/wfms"]
    assert "tests/contract" in list_test_folders("sluice/contracts")
    with pytest.raises(SystemExit, match="no folder of tests/unit or tests/integration"):
        list_test_folders("nobody/knows")


def test_packages_of_a_pack_have_the_tests_of_the_pack() -> None:
    for package in ("templates/ocr", "templates/ocr/ocr"):
        assert list_test_folders(package) == ["templates/ocr/tests"]
    with pytest.raises(SystemExit, match="there is no folder templates/unknown/tests"):
        list_test_folders("templates/unknown/unknown")


def test_tests_of_a_pack_are_not_changed() -> None:
    chosen = choose("templates/collage", seed=1, changes=10**6)
    assert {change.path.parts[2] for change in chosen} == {"collage"}
