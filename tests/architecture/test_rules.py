"""The checks of the code's layout find violations.

``make check`` applies the checks to the code: ``lint-imports`` (imports point one way) and
``scripts/check_limits.py`` (files and functions stay small).
"""

import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from scripts.check_limits import MAX_FILE, MAX_FUNCTION, MAX_POSITIONAL, find_excesses
from tests.architecture.sources import ROOT


def read_import_contracts() -> list[dict[str, Any]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    import_contracts: list[dict[str, Any]] = settings["tool"]["importlinter"]["contracts"]
    return import_contracts


def list_modules() -> list[str]:
    """Return the import name of every Python file of the project."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [Path(line) for line in listed.stdout.splitlines() if (ROOT / line).exists()]
    return [import_name(path) for path in paths if path.name != "__init__.py"]


def import_name(path: Path) -> str:
    """Return the import name of a Python file, given its path from the repository's root.

    The programs of a pack are imported from the folder beside its workflow, and its tests from the
    root.
    """
    parts = path.with_suffix("").parts
    is_program = parts[0] == "templates" and parts[2] != "tests"
    return ".".join(parts[2:] if is_program else parts)


def list_names_outside(names: list[str], placed: set[str]) -> list[str]:
    return [
        name
        for name in names
        if not any(name == place or name.startswith(f"{place}.") for place in placed)
    ]


def test_every_module_has_a_place_in_the_order_of_imports() -> None:
    order = next(
        each for each in read_import_contracts() if each["name"].startswith("Imports point one way")
    )
    placed = {name.strip() for layer in order["layers"] for name in layer.split("|")}
    assert len(names := list_modules()) > 1000
    assert list_names_outside(names, placed) == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("wms/domain/rank.py", "wms.domain.rank"),
        ("templates/spd/spd/frame.py", "spd.frame"),
        ("templates/spd/tests/unit/test_demo.py", "templates.spd.tests.unit.test_demo"),
    ],
)
def test_path_gives_the_import_name_of_a_module(path: str, name: str) -> None:
    assert import_name(Path(path)) == name


def test_module_without_a_place_in_the_order_is_found() -> None:
    names = ["sluice.warm", "sluice.cli.up", "tools.x", "dms", "dmsx.a"]
    assert list_names_outside(names, {"sluice.cli", "dms"}) == ["sluice.warm", "tools.x", "dmsx.a"]


LONG = "\n".join(["    pass"] * MAX_FUNCTION)
MANY = ", ".join(f"p{number}" for number in range(MAX_POSITIONAL + 1))
FEW = MANY.partition(", ")[2]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dms/x.py", f"def f():\n{LONG}"),
        ("dms/x.py", f"@router.get('/')\nasync def f():\n{LONG}"),
        ("dms/x.py", f"def outer():\n def f():\n{LONG.replace('    ', '  ')}\n return f"),
        ("dms/x.py", "\n" * (MAX_FILE + 1)),
        ("dms/x.py", f"def f({MANY}): pass"),
        ("dms/x.py", f"@app.command('x')\ndef f({MANY}): pass"),
        ("dms/x.py", f"class C:\n def f(self, {MANY}): pass"),
        ("tests/x.py", f"@decorated(1)\ndef f({MANY}): pass"),
    ],
)
def test_code_beyond_a_limit_is_found(name: str, text: str) -> None:
    assert list(find_excesses(name, text))


@pytest.mark.parametrize(
    "text",
    [
        f"class C:\n def f(self, {FEW}): pass",
        f"def f({FEW}, *, named): pass",
        f"def test_f({MANY}): pass",
        f"@pytest.fixture(scope='module')\ndef f({MANY}): pass",
        f"@pytest.fixture\ndef f({MANY}): pass",
    ],
)
def test_code_within_the_limits_is_accepted(text: str) -> None:
    assert not list(find_excesses("tests/x.py", text))


@pytest.mark.xdist_group("one-of-a-group")
def test_tests_of_a_group_run_in_one_process() -> None:
    """Without the marks every process starts what a module or a group should start once."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert "@one-of-a-group" in os.environ["PYTEST_CURRENT_TEST"]
