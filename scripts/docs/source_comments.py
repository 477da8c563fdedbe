"""Readers of docstrings, and of ``#:`` comments beside names of a class.

Python itself does not keep these comments.
"""

import ast
import inspect
import io
import tokenize
from functools import cache
from pathlib import Path


@cache
def read_comments(owner: type) -> dict[str, str]:
    """Return the ``#:`` comment of each name of the class and of its base classes.

    The comment stands behind the name or on the lines before it.
    """
    comments: dict[str, str] = {}
    for part in reversed(owner.__mro__):
        if part.__module__.split(".")[0] in {"sluice", "dms", "wms", "wfms", "pilot"}:
            comments |= _own_comments(part)
    return comments


def _own_comments(owner: type) -> dict[str, str]:
    try:
        lines = inspect.getsource(owner).splitlines()
    except OSError:  # made by ``create_model``
        return {}
    comments: dict[str, str] = {}
    before: list[str] = []
    for line in lines:
        code, comment = _split(line)
        if comment and not code:
            before.append(comment)
            continue
        name = code.split(":")[0].split("=")[0].strip()
        if name.isidentifier() and (comment or before):
            comments[name] = " ".join([*before, *([comment] if comment else [])])
        before = []
    return comments


def _split(line: str) -> tuple[str, str]:
    """Return the code and the ``#:`` comment of one line; ``#:`` in a string does not count."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.strip()).readline):
            if token.type == tokenize.COMMENT and token.string.startswith("#:"):
                return line.strip()[: token.start[1]].strip(), token.string[2:].strip()
    except tokenize.TokenError:
        pass  # a line that continues in the next one
    return line.strip(), ""


def first_sentence(owner: object) -> str:
    """Return the docstring's first paragraph in one line."""
    text = inspect.getdoc(owner) or ""
    return " ".join(text.split("\n\n")[0].split())


def module_sentence(path: Path) -> str:
    """Return the first paragraph of a module's docstring in one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())
