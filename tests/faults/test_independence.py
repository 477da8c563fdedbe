"""The checker shares no code with the system that it judges."""

import ast
import subprocess
import sys
from pathlib import Path

CHECKER = Path(__file__).with_name("checker")
PRODUCT = {"sluice", "bench", "wfms", "dms", "wms", "pilot", "stack"}
#: Modules with which the packs, whose files the checker reads, escape text in messages.
ESCAPES = {
    "sluice",
    "sluice.packs",
    "sluice.packs.programs",
    "sluice.text",
    "sluice.text.visible_text",
}


def test_checker_does_not_import_the_system() -> None:
    modules = sorted(CHECKER.glob("*.py"))
    assert len(modules) > 5
    for module in modules:
        imported = {
            name
            for node in ast.walk(ast.parse(module.read_text()))
            for name in _list_imported_names(node)
        }
        assert not {name.split(".")[0] for name in imported} & PRODUCT, module.name
        own = {name for name in imported if name.startswith("tests")}
        assert all(name.startswith("tests.faults.checker") for name in own), module.name


def test_import_of_the_checker_loads_nothing_of_the_system() -> None:
    program = "import sys, tests.faults.checker.settle; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout.split()
    assert "asyncpg" in loaded
    assert {name for name in loaded if name.split(".")[0] in PRODUCT} <= ESCAPES


def _list_imported_names(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module)):
            return [module]
        case _:
            return []
