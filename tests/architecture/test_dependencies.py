"""Each imported package is declared for the extra that installs the importing part of the product.

A pilot's node installs only the extra ``pilot``, and a client installs no extra. A pack is a
distribution with its own requirements. ``deptry`` checks that every package is declared and that no
declared package is unused.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from tests.architecture.sources import PRODUCT, ROOT, Source, list_sources

#: Part of the product → extras that install it besides the base. Each extra alone must suffice. The
#: longest matching path counts.
EXTRAS: dict[str, tuple[str, ...]] = {
    "sluice": (),
    "bench": ("services",),
    "sluice/cwl": ("services",),
    "sluice/cwl_runner": ("services",),
    "sluice/tools/cwltool_types.py": ("services", "pilot"),
    "sluice/embedded": ("services",),
    "sluice/servicekit": ("services",),
    "sluice/pilot_access": ("services", "pilot"),
    "sluice/setup": ("services",),
    "dms": ("services",),
    "wms": ("services",),
    "wfms": ("services",),
    "pilot": ("pilot",),
    "sluice/packs/images.py": ("images",),
    "templates/collage": ("collage",),
    "templates/masstimes": ("masstimes",),
    "templates/masstimes/masstimes/classifier": ("masstimes train",),
    "templates/ocr": ("ocr pero",),
    "templates/spd": ("spd",),
}
#: Part of the product → extra for imports within functions, which run the system on this machine.
WHEN_CALLED = {"sluice/cli": "services"}


def _normalize_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _read_project(folder: Path) -> dict[str, Any]:
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


def _list_declared() -> Iterator[tuple[str, set[str]]]:
    """Yield the extras of Sluice, and the packs alone and with each extra, with their packages."""
    sluice = _read_project(ROOT)
    yield "", _list_names(sluice["dependencies"])
    for extra, texts in sluice["optional-dependencies"].items():
        yield extra, _list_names(sluice["dependencies"], texts)
    for pack in sorted((ROOT / "templates").iterdir()):
        project = _read_project(pack)
        required = _list_names(project["dependencies"])
        yield pack.name, required
        for extra, texts in project.get("optional-dependencies", {}).items():
            yield f"{pack.name} {extra}", required | _list_names(texts)


def _list_names(*lists: Sequence[str]) -> set[str]:
    return {_normalize_name(Requirement(text).name) for texts in lists for text in texts}


DECLARED = dict(_list_declared())
#: Packages of the extras of packs, which may be absent here.
PACKAGES = {
    "Levenshtein": ["levenshtein"],
    "cv2": ["opencv-python"],
    "pero_ocr": ["pero-ocr"],
    "torch": ["torch"],
    **packages_distributions(),
}
OWN = {*PRODUCT, "collage", "masstimes", "ocr", "spd"}


def list_extras(name: str) -> tuple[str, ...]:
    """Return the extras for a file; the base alone is the empty string."""
    parts = [part for part in EXTRAS if name == part or name.startswith(f"{part}/")]
    return EXTRAS[max(parts, key=len)] or ("",)


def find_undeclared(source: Source) -> Iterator[str]:
    for node, module, when_called in _list_imports(source.tree):
        root = module.partition(".")[0]
        if root in OWN or root in sys.stdlib_module_names:
            continue
        extras = list_extras(source.name)
        if when_called:
            extras = next(
                (
                    (more,)
                    for part, more in WHEN_CALLED.items()
                    if source.name.startswith(f"{part}/")
                ),
                extras,
            )
        owners = {_normalize_name(owner) for owner in PACKAGES.get(root, ())}
        for extra in extras:
            if not owners & DECLARED[extra]:
                yield f"{source.at(node)}: {module} is not declared for {extra or 'the base'}"


def _list_imports(
    tree: ast.AST, *, when_called: bool = False
) -> Iterator[tuple[ast.stmt, str, bool]]:
    """Yield (statement, module, is it within a function), except imports for type checkers only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr) or (isinstance(node, ast.If) and _is_for_types(node.test)):
            continue
        if isinstance(node, ast.Import):
            yield from ((node, alias.name, when_called) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node, node.module or "", when_called
        else:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _list_imports(node, when_called=when_called or inside)


def _is_for_types(condition: ast.expr) -> bool:
    return isinstance(condition, ast.Name) and condition.id == "TYPE_CHECKING"


def test_imported_packages_are_declared_for_the_importing_part() -> None:
    files = list_sources(*PRODUCT, "templates")
    assert len(files) > 500
    assert [finding for source in files for finding in find_undeclared(source)] == []


@pytest.mark.parametrize(
    ("name", "text", "number"),
    [
        ("pilot/x.py", "import fastapi", 1),
        ("pilot/x.py", "from psutil import Process", 0),
        ("sluice/clients/x.py", "import yaml", 1),
        ("sluice/clients/x.py", "def f():\n    import yaml", 1),
        ("sluice/cli/x.py", "import yaml", 1),
        ("sluice/cli/x.py", "def f():\n    import yaml", 0),
        ("sluice/tools/cwltool_types.py", "import cwltool", 0),
        ("sluice/tools/cwltool_types.py", "import cwltool, platformdirs", 1),
        ("dms/x.py", "import awkward", 1),
        ("sluice/packs/x.py", "import PIL", 1),
        ("sluice/packs/images.py", "import PIL", 0),
        ("templates/spd/spd/x.py", "import awkward, httpx", 1),
        ("templates/collage/collage/x.py", "import awkward", 1),
        ("templates/masstimes/masstimes/x.py", "import torch", 1),
        ("templates/masstimes/masstimes/classifier/x.py", "import torch", 0),
        ("dms/x.py", "import pytest", 1),
        ("dms/x.py", "if TYPE_CHECKING:\n    import pytest", 0),
    ],
)
def test_undeclared_import_is_found(name: str, text: str, number: int) -> None:
    assert len(list(find_undeclared(Source(name, ast.parse(text))))) == number
