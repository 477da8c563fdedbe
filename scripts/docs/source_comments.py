"""Reads the ``#:`` comments that stand beside names of a class, as Python itself forgets them."""

import ast
import inspect
import io
import tokenize
from functools import cache
from pathlib import Path


@cache
def comments_of(owner: type) -> dict[str, str]:
    """Name → its ``#:`` comment, behind it or on the lines before it, of the class and of those it
    inherits from."""
    found: dict[str, str] = {}
    for part in reversed(owner.__mro__):
        if part.__module__.split(".")[0] in {"sluice", "dms", "wms", "wfms", "pilot"}:
            found |= _own_comments(part)
    return found


def _own_comments(owner: type) -> dict[str, str]:
    lines = inspect.getsource(owner).splitlines()
    found: dict[str, str] = {}
    before: list[str] = []
    for line in lines:
        code, comment = _split(line)
        if comment and not code:
            before.append(comment)
            continue
        name = code.split(":")[0].split("=")[0].strip()
        if name.isidentifier() and (comment or before):
            found[name] = " ".join([*before, *([comment] if comment else [])])
        before = []
    return found


def _split(line: str) -> tuple[str, str]:
    """(code, comment after ``#:``) of one line; a ``#:`` within a string is none."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.strip()).readline):
            if token.type == tokenize.COMMENT and token.string.startswith("#:"):
                return line.strip()[: token.start[1]].strip(), token.string[2:].strip()
    except tokenize.TokenError:
        pass  # a line that goes on in the next one
    return line.strip(), ""


def first_sentence(owner: object) -> str:
    """The docstring's first paragraph in one line."""
    text = inspect.getdoc(owner) or ""
    return " ".join(text.split("\n\n")[0].split())


def module_sentence(path: Path) -> str:
    """The first paragraph of a module's docstring, in one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())
