"""Find the tests that are marked as long by parsing their source."""

import ast
from collections.abc import Iterator

from tests.architecture.sources import Source


def is_long(source: Source, test: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether the whole test is marked; marks of single parameter sets do not count."""
    called_so = {
        node.targets[0].id
        for node in source.tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and _is_mark(node.value)
    }
    return any(
        _is_mark(decorator) or (isinstance(decorator, ast.Name) and decorator.id in called_so)
        for decorator in test.decorator_list
    )


def is_module_long(source: Source) -> bool:
    for node in source.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                return any(_is_mark(part) for part in ast.walk(value))
    return False


def list_marks(source: Source) -> Iterator[ast.expr]:
    """Yield each use of the mark: a call with its reason, or the bare name without a reason."""
    called = {id(node.func) for node in source.nodes if isinstance(node, ast.Call)}
    for node in source.nodes:
        if isinstance(node, ast.Call | ast.Attribute) and _is_mark(node) and id(node) not in called:
            yield node


def _is_mark(node: ast.AST) -> bool:
    """Return whether a node is ``pytest.mark.long("…")``, with or without a reason."""
    return ast.unparse(node.func if isinstance(node, ast.Call) else node) == "pytest.mark.long"
