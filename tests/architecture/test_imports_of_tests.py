"""Test modules share helpers through other modules, so that each can be renamed or deleted alone.

Importing a test module also imports its fixtures and runs its module-level code.
"""

import re

import pytest

from tests.architecture.sources import ROOT, TEST_FOLDERS

#: Also matches imports in programs that tests start. The tests of the whole system (``e2e``) still
#: share helpers in this way.
_IMPORT = re.compile(
    r"\b(?:from|import)\s+(?:templates\.\w+\.)?tests(?!\.e2e)(?:\.\w+)*(?:\.|\s+import\s+)test_\w+"
)


def find_imports_of_tests(text: str) -> list[str]:
    return _IMPORT.findall(text)


def test_no_test_module_is_imported() -> None:
    files = [
        path
        for folder in TEST_FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not path.is_relative_to(ROOT / "tests" / "e2e")
    ]
    assert len(files) > 800
    found = {
        str(path.relative_to(ROOT)): imported
        for path in files
        if path.name != "test_imports_of_tests.py"
        and (imported := find_imports_of_tests(path.read_text(encoding="utf-8")))
    }
    assert found == {}, "move what is shared into a module without `test_` in its name"


@pytest.mark.parametrize(
    "text",
    [
        "from tests.unit.cli.test_system import commands",
        "from tests.unit.cli import test_system",
        "import tests.unit.cli.test_system",
        "from templates.spd.tests.unit.test_demo import run",
        'PROGRAM = """\nfrom tests.unit.test_fit import fits\n"""',
    ],
)
def test_import_of_a_test_module_is_found(text: str) -> None:
    assert find_imports_of_tests(text)


@pytest.mark.parametrize(
    "text",
    [
        "from tests.callers import for_anybody",
        "from tests.unit.cli.command_tree import commands",
        "from templates.ocr.tests.unit.pages import write_page",
    ],
)
def test_import_of_a_module_of_helpers_is_accepted(text: str) -> None:
    assert not find_imports_of_tests(text)
