"""Values for cwltool that lose nothing: it writes a number on a command line as it was written, and
reads YAML."""

import json
from typing import Any

from ruamel.yaml import YAML

_yaml = YAML()


def write_document(document: Any, path: str) -> None:
    """As a file that a reader of YAML reads right: the escapes of JSON for characters beyond 16
    bits are not YAML's."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, ensure_ascii=False)


def read_exact(text: bytes) -> Any:
    """JSON with its fractions as they are written (``1.50``, ``1e-5``). Raises ``ValueError``."""
    return json.loads(text, parse_float=_yaml.load)


def exact(value: Any) -> Any:
    """``value`` with its fractions as cwltool reads them from a file."""
    match value:
        case float():
            return _yaml.load(repr(value))
        case list():
            return [exact(item) for item in value]
        case dict():
            return {key: exact(item) for key, item in value.items()}
    return value
