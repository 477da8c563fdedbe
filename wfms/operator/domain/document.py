"""A template's text as the JSON that is stored beside it, and what PostgreSQL's ``jsonb`` cannot hold."""

from datetime import date, datetime
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

#: Values a document may have once its aliases are written out: an alias of an alias of … grows without limit.
MOST_VALUES = 200_000


class NotStorable(ValueError):
    """The document cannot be kept as JSON; the message says why."""


def as_document(text: str) -> dict[str, Any]:
    """The mapping that the YAML (or JSON) ``text`` holds, as JSON values. Raises ``NotStorable``."""
    yaml = YAML(typ="safe", pure=True)
    try:
        loaded = yaml.load(StringIO(text))
    except YAMLError as error:
        raise NotStorable(f"not YAML: {error}") from error
    if not isinstance(loaded, dict):
        raise NotStorable("not a mapping at its top level")
    document: dict[str, Any] = storable(loaded)
    return document


def storable(value: Any) -> Any:
    """``value`` as plain JSON values with aliases written out. Raises ``NotStorable``."""
    return _Copy().of(value)


class _Copy:
    def __init__(self) -> None:
        self._left = MOST_VALUES

    def of(self, value: Any, depth: int = 0) -> Any:
        self._left -= 1
        if self._left < 0:
            raise NotStorable(f"more than {MOST_VALUES} values once its aliases are written out")
        if depth > 200:
            raise NotStorable("nested more than 200 levels deep, or within itself")
        match value:
            case dict():
                return {self._text(str(key)): self.of(item, depth + 1) for key, item in value.items()}
            case list() | tuple() | set():
                return [self.of(item, depth + 1) for item in value]
            case str():
                return self._text(value)
            case bool() | None | float():
                return value
            case int():
                return value if -(2**63) <= value < 2**63 else str(value)
            case datetime() | date():
                return value.isoformat()
            case _:
                return self._text(str(value))

    @staticmethod
    def _text(text: str) -> str:
        if "\x00" in text:
            raise NotStorable("a text in it holds a NUL character (\\0)")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise NotStorable("a text in it holds half of a surrogate pair") from error
        return text
