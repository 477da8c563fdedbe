"""Growing pauses are computed in one place: ``sluice.scheduling.backoff.pause_after``."""

import ast
from collections.abc import Iterator

from tests.architecture.sources import PRODUCT, Source, list_sources

HOME = "sluice/scheduling/backoff.py"


def find_growing_pauses(source: Source) -> Iterator[str]:
    """Find ``min(… ** failures, longest)`` and ``pause = min(2 * pause, longest)``."""
    for node in source.nodes:
        if isinstance(node, ast.Call) and _is_min(node) and any(map(_grows, ast.walk(node))):
            yield source.at(node)
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and _is_min(node.value)
        ):
            named = {ast.unparse(target) for target in node.targets}
            if any(_is_product_of(part, named) for part in node.value.args):
                yield source.at(node)


def _is_min(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "min"


def _grows(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Pow)
        and not isinstance(node.right, ast.Constant)
    )


def _is_product_of(node: ast.expr, names: set[str]) -> bool:
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult)
        and bool(names & {ast.unparse(node.left), ast.unparse(node.right)})
    )


def test_growing_pauses_are_computed_in_one_place() -> None:
    places = [at for source in list_sources(*PRODUCT) for at in find_growing_pauses(source)]
    assert [at for at in places if not at.startswith(f"{HOME}:")] == [], f"use {HOME}"
    assert places, "the formula itself was not found"


def test_second_formula_of_growing_pauses_is_found() -> None:
    text = (
        "a = min(0.1 * 2**failures, 5.0)\nself.b = min(1.3 * self.b, 5.0)\nc = min(2 * a, 2**31)\n"
    )
    assert sorted(find_growing_pauses(Source("x.py", ast.parse(text)))) == ["x.py:1", "x.py:2"]
