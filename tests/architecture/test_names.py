"""Class names of the product are unique, so that a name in code or in a log has one meaning."""

import ast
from collections.abc import Iterable, Mapping

from tests.architecture.sources import PRODUCT, Source, sources

#: Name → why several classes have it.
SHARED: Mapping[str, str] = {}


def places(files: Iterable[Source]) -> dict[str, list[str]]:
    """Map each public class at the top level of a module to its places."""
    found: dict[str, list[str]] = {}
    for source in files:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(source.at(node))
    return found


def test_class_names_are_unique() -> None:
    found = places(sources(*PRODUCT, "stack"))
    assert len(found) > 500
    shared = {name: where for name, where in found.items() if len(where) > 1}
    assert {name: where for name, where in shared.items() if name not in SHARED} == {}
    assert SHARED.keys() <= shared.keys(), "only one class has this name now"


def test_class_name_that_two_modules_use_is_found() -> None:
    files = [
        Source("dms/a.py", ast.parse("class Place: ...\nclass _Own: ...\n")),
        Source("wms/b.py", ast.parse("x = 1\nclass Place: ...\nclass _Own: ...\n")),
    ]
    assert places(files) == {"Place": ["dms/a.py:1", "wms/b.py:2"]}
