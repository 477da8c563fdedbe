"""A handler of all exceptions raises again, or says beside it why it may not."""

import ast
from collections.abc import Iterator, Sequence

import pytest

from tests.architecture.sources import PRODUCT, ROOT, Source, list_sources

BROAD = {"Exception", "BaseException"}


def handlers_without_reason(source: Source, lines: Sequence[str]) -> Iterator[str]:
    """Yield the handlers of all exceptions that neither raise again nor have a comment.

    The comment is on the line of the handler, or on the line before or after it.
    """
    for node in source.nodes:
        if isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _raises_again(node):
            place = node.lineno - 1
            beside = [
                lines[place],
                *(line.strip() for line in (lines[place - 1], lines[place + 1])),
            ]
            if "  # " not in beside[0] and not any(line.startswith("# ") for line in beside[1:]):
                yield source.at(node)


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(n, ast.Name) and n.id in BROAD for n in ast.walk(handler.type))


def _raises_again(handler: ast.ExceptHandler) -> bool:
    """Return whether the last statement raises the exception that was caught."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_handlers_of_all_exceptions_say_why_they_do_not_raise() -> None:
    files = list_sources(*PRODUCT, "templates", "scripts")
    assert len(files) > 500
    assert [
        place
        for source in files
        for place in handlers_without_reason(
            source, (ROOT / source.name).read_text(encoding="utf-8").splitlines()
        )
    ] == []


@pytest.mark.parametrize(
    ("handler", "number"),
    [
        ("except Exception:\n    pass\n", 1),
        ("except:\n    pass\n", 1),
        ("except (OSError, BaseException):\n    pass\n", 1),
        ("except Exception as error:\n    raise ValueError from error\n", 1),
        ("except Exception:\n    undo()\n    raise\n", 0),
        ("except Exception:  # a page may cause any error\n    pass\n", 0),
        ("# a page may cause any error\nexcept Exception:\n    pass\n", 0),
        ("except Exception:\n    # a page may cause any error\n    pass\n", 0),
        ("except OSError:\n    pass\n", 0),
    ],
)
def test_handler_without_a_reason_is_found(handler: str, number: int) -> None:
    text = f"try:\n    do()\n{handler}"
    found = handlers_without_reason(Source("x.py", ast.parse(text)), text.splitlines())
    assert len(list(found)) == number
