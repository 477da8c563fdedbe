"""A class of the product is called as no other is: who meets its name, in code or in a log, knows
which is meant."""

import ast
from collections.abc import Iterable, Mapping

from tests.architecture.sources import PRODUCT, Source, sources

#: Name → why several classes have it.
SHARED: Mapping[str, str] = {}


def places(files: Iterable[Source]) -> dict[str, list[str]]:
    """Public class at the top of a module → where it is."""
    found: dict[str, list[str]] = {}
    for source in files:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(source.at(node))
    return found


def test_no_two_classes_have_one_name() -> None:
    found = places(sources(*PRODUCT, "stack"))
    assert len(found) > 500
    shared = {name: where for name, where in found.items() if len(where) > 1}
    assert {name: where for name, where in shared.items() if name not in SHARED} == {}
    assert SHARED.keys() <= shared.keys(), "these are alone with their names by now"


def test_a_name_that_two_classes_have_is_found() -> None:
    files = [
        Source("dms/a.py", ast.parse("class Place: ...\nclass _Own: ...\n")),
        Source("wms/b.py", ast.parse("x = 1\nclass Place: ...\nclass _Own: ...\n")),
    ]
    assert places(files) == {"Place": ["dms/a.py:1", "wms/b.py:2"]}
