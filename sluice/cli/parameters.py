"""``--param`` and ``--meta``: ``key=value`` on the command line, the value read as JSON where it is JSON, else as text."""

import json
from collections.abc import Sequence
from typing import Any

import typer


def key_values(texts: Sequence[str], *, option: str) -> dict[str, Any]:
    """``["n=3", "name=run one"]`` → ``{"n": 3, "name": "run one"}``; ends the command when one has no ``=`` or comes twice."""
    values: dict[str, Any] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise typer.BadParameter(f"{text!r} is not of the form key=value", param_hint=option)
        if key in values:
            raise typer.BadParameter(f"{key!r} is given twice", param_hint=option)
        values[key] = _value(value)
    return values


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
