"""A ``match`` on enumeration members lets mypy find members that are added and not handled."""

import ast
from collections.abc import Iterable, Iterator

import pytest

from tests.architecture.sources import PRODUCT, list_sources


def open_choices(nodes: Iterable[ast.AST]) -> Iterator[ast.Match]:
    """Yield each ``match`` on members that has no default and does not end the function."""
    for node in nodes:
        if isinstance(node, ast.Match):
            ends = all(isinstance(case.body[-1], ast.Return | ast.Raise) for case in node.cases)
            if not ends and all(_names_members(case.pattern) for case in node.cases):
                yield node


def _names_members(pattern: ast.pattern) -> bool:
    match pattern:
        case ast.MatchValue(value=ast.Attribute()) | ast.MatchSingleton():
            return True
        case ast.MatchOr(patterns=patterns):
            return all(map(_names_members, patterns))
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _names_members(inner)
    return False


def test_matches_on_enumeration_members_are_exhaustive() -> None:
    places = [
        source.at(node)
        for source in list_sources(*PRODUCT, "stack")
        for node in open_choices(source.nodes)
    ]
    assert not places, "\n".join(["end with `case _: assert_never(…)`:", *places])


@pytest.mark.parametrize(
    ("cases", "number"),
    [
        ("case A.X: a()\n  case A.Y | None: b()", 1),
        ("case A.X as x: return a\n  case A.Y: b()", 1),
        ("case A.X: a()\n  case _: assert_never(x)", 0),
        ("case A.X: return a\n  case A.Y: raise b", 0),
        ("case 'x': a()", 0),
    ],
)
def test_match_without_exhaustiveness_check_is_found(cases: str, number: int) -> None:
    assert (
        len(list(open_choices(ast.walk(ast.parse(f"def f(x):\n match x:\n  {cases}"))))) == number
    )
