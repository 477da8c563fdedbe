"""JSON values that the database can store and return unchanged."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

#: Maximum depth of nested values.
MAX_DEPTH = 50
#: Range of integers.
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**64 - 1


def trouble_in(value: Any) -> str | None:
    """Return why a value cannot be stored, as a clause, or None if it can."""
    for part, depth in _parts(value):
        match part:
            case str() if "\0" in part or not _is_unicode(part):
                return "a text contains a NUL character or an unpaired surrogate"
            case bool():
                pass
            case float() if not isfinite(part):
                return "a number is not finite"
            case int() if not _MIN_INTEGER <= part <= _MAX_INTEGER:
                return "a number has more than 64 bits"
            case dict() | list() if depth > MAX_DEPTH:
                return f"values are nested more than {MAX_DEPTH} levels deep"
    return None


def _is_unicode(text: str) -> bool:
    """Return whether a text is valid Unicode.

    Encoding is faster than a check of each character, and texts with images are long.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _parts(value: Any) -> Iterator[tuple[Any, int]]:
    """Yield all values and keys with their depth. Values nested too deep are not entered."""
    waiting = [(value, 1)]
    while waiting:
        part, depth = waiting.pop()
        yield part, depth
        inner: list[Any] = []
        if isinstance(part, dict):
            inner = [*part.keys(), *part.values()]
        elif isinstance(part, list):
            inner = part
        waiting += [(one, depth + 1) for one in inner]
