"""Docstrings that explain a name call it as the code does."""

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from functools import cache

from tests.architecture.sources import PRODUCT, Source, list_sources

#: A clause whose subject is one name or two names in backticks, and its verb.
EXPLANATION = re.compile(
    r"(?:^|[.:;] |\b(?:If|Unless) )``([a-z_]\w*)``(?: (?:and|or) ``([a-z_]\w*)``)?"
    r" (?:are|have|name|say|may|must|can|cannot|[a-z]+s)\b"
)


def find_unknown_names(files: Iterable[Source]) -> list[str]:
    """Return the explained names that a module does not contain, with their places."""
    return [
        f"{source.at(owner)}: {name}"
        for source in files
        for owner, explained_names in _list_explanations(source)
        for name in explained_names
        if name not in list_names_in_code(source)
    ]


def _list_explanations(source: Source) -> Iterator[tuple[ast.AST, list[str]]]:
    """Yield each class and function with the names that its docstring explains."""
    for node in source.nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = " ".join((ast.get_docstring(node) or "").split())
            if names := [name for match in EXPLANATION.findall(text) for name in match if name]:
                yield node, names


@cache
def list_names_in_code(source: Source) -> frozenset[str]:
    """Return all identifiers of a module, the words of its texts, and the names of builtins.

    A word of a text may be a value, a column or a field of a document.
    """
    names = set(dir(builtins))
    docstrings = {id(node.value) for node in source.nodes if isinstance(node, ast.Expr)}
    for node in source.nodes:
        match node:
            case ast.Constant(value=str() as text) if id(node) not in docstrings:
                names.update(re.findall(r"\w+", text))
            case ast.Name():
                names.add(node.id)
            case ast.arg() | ast.keyword():
                names.add(node.arg or "")
            case ast.Attribute():
                names.add(node.attr)
            case ast.alias():
                names.add(node.asname or node.name)
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                names.add(node.name)
    return frozenset(names)


def test_docstrings_explain_names_of_their_module() -> None:
    assert find_unknown_names(list_sources(*PRODUCT, "stack", "scripts")) == []


def test_explanations_of_unknown_names_are_found() -> None:
    text = '''
class Pauses:
    """Pauses; ``longest`` limits them. ``first`` and ``last`` are in seconds."""

    def __init__(self, first, max_pause): ...

async def search(exit_stack):
    """Search.

    If ``closing`` is None, no file
    stays open. ``exit_stack`` says who closes the others.
    """
'''
    assert find_unknown_names([Source("pilot/pauses.py", ast.parse(text))]) == [
        "pilot/pauses.py:2: longest",
        "pilot/pauses.py:2: last",
        "pilot/pauses.py:7: closing",
    ]
