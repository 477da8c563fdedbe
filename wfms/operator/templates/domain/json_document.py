"""The document of a template as JSON that the type ``jsonb`` of PostgreSQL can hold."""

from typing import Any

#: Values that a document may have after its aliases are expanded.
MAX_VALUES = 200_000


class UnstorableDocument(ValueError):
    """A document that cannot be stored as JSON; the message says why."""


def to_storable(value: Any) -> Any:
    """Return plain JSON values with aliases expanded.

    Raises:
        UnstorableDocument: The document is too large, too deep or has texts that cannot be stored.
    """
    return _Copy().copy(value)


class _Copy:
    def __init__(self) -> None:
        self._remaining_values = MAX_VALUES

    def copy(self, value: Any, depth: int = 0) -> Any:
        self._remaining_values -= 1
        if self._remaining_values < 0:
            raise UnstorableDocument(
                f"it holds more than {MAX_VALUES} values once its aliases are written out"
            )
        if depth > 200:
            raise UnstorableDocument("it is nested more than 200 levels deep, or within itself")
        match value:
            case dict():
                return {
                    self._convert_text(str(key)): self.copy(item, depth + 1)
                    for key, item in value.items()
                }
            case list() | tuple():
                return [self.copy(item, depth + 1) for item in value]
            case str():
                return self._convert_text(value)
            case bool() | None | float():
                return value
            case int():
                return value if -(2**63) <= value < 2**63 else str(value)
            case _:
                return self._convert_text(str(value))

    @staticmethod
    def _convert_text(text: str) -> str:
        if "\x00" in text:
            raise UnstorableDocument("a text contains a NUL character (\\0)")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise UnstorableDocument("a text contains an unpaired surrogate") from error
        return str(text)
