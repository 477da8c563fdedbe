"""Exact values for cwltool.

cwltool reads YAML and writes a number on a command line exactly as it was written.
"""

import json
from typing import Any

from ruamel.yaml import YAML

_yaml = YAML()


def write_document(document: Any, path: str) -> None:
    """Write a document as JSON that is also valid YAML.

    The escapes of JSON for characters beyond 16 bits are not valid in YAML.
    """
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, ensure_ascii=False)


def read_exact(text: bytes) -> Any:
    """Read JSON and keep fractions as they are written (``1.50``, ``1e-5``).

    Raises:
        ValueError: The text is not valid JSON.
    """
    return json.loads(text, parse_float=_yaml.load)


def make_exact(value: Any) -> Any:
    """Return ``value`` with its fractions as cwltool reads them from a file."""
    match value:
        case float():
            return _yaml.load(repr(value))
        case list():
            return [make_exact(item) for item in value]
        case dict():
            return {key: make_exact(item) for key, item in value.items()}
    return value
