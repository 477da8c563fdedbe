"""Names use the terms of the glossary."""

import ast
import re
from collections.abc import Iterable, Iterator

from tests.architecture.sources import PRODUCT, Source, sources

#: Words that had a meaning of their own in this project. The glossary has the terms instead.
ABOLISHED = frozenset(
    [
        "behalfs",
        "bury",
        "desk",
        "desks",
        "distrust",
        "distrusted",
        "doubts",
        "entrance",
        "lasting",
        "lately",
        "lending",
        "lendings",
        "lent",
        "reception",
        "ring",
        "rings",
        "rival",
        "rivals",
        "salvage",
        "shelf",
        "sight",
        "spelling",
        "story",
        "twin",
        "twins",
        "understood",
        "walls",
        "wish",
    ]
)


def names(source: Source) -> Iterator[tuple[str, str]]:
    """Yield each name that a module gives to itself, a class or a function, with its place."""
    yield source.name.rpartition("/")[2].removesuffix(".py"), source.name
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, source.at(node)


def words(name: str) -> list[str]:
    """Split ``TwoWords`` and ``two_words`` into ``two`` and ``words``."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def abolished(files: Iterable[Source]) -> list[str]:
    return [
        f"{place}: {name}"
        for source in files
        for name, place in names(source)
        if not ABOLISHED.isdisjoint(words(name))
    ]


def test_names_use_no_abolished_words() -> None:
    assert abolished(sources(*PRODUCT, "stack")) == []


def test_abolished_words_are_found_in_modules_classes_and_functions() -> None:
    text = "class NodeWalls: ...\ndef look_for_rivals(): ...\ndef string_of_rows(): ...\n"
    assert abolished([Source("dms/sight.py", ast.parse(text))]) == [
        "dms/sight.py: sight",
        "dms/sight.py:1: NodeWalls",
        "dms/sight.py:2: look_for_rivals",
    ]
