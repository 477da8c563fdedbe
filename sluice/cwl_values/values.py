"""Rules for the CWL values that can be stored: standard JSON of limited depth."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from sluice.text.visible_text import quoted

#: The limit of nested lists and objects. cwltool supports twice as many.
MAX_NESTED = 256
#: The limit of nested folders, which are two levels each in a listing.
MAX_FOLDERS = 100
#: The limit of JSON in bytes, and of brackets and commas in it. Each may become a Python object of
#: some hundred bytes.
MAX_JSON, MAX_PARTS = 16 << 20, 500_000
#: The limit of digits of a whole number, which is that of Python.
_MAX_DIGITS = 4300
_TOO_LONG = 10**_MAX_DIGITS

_MAX_STEPS = 4
#: A text, which may contain brackets and commas, or a bracket or comma.
_TEXT_OR_PART = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{,]', re.DOTALL)

#: The path from a value to a part of it. None is the value itself.
_Path = tuple["_Path", "str | int"] | None


@dataclass(frozen=True, slots=True)
class UnstorablePart:
    """A part of a value that cannot be stored, and the reason.

    ``path`` has the keys and indexes of the part. ``reason`` is a sentence without its subject,
    with the remedy.
    """

    path: Sequence[str | int]
    reason: str

    @property
    def place(self) -> str:
        """The part in words (``o[2].name``), or an empty text for the value itself."""
        text = "".join(map(_step, self.path[:_MAX_STEPS])) + (
            "…" if len(self.path) > _MAX_STEPS else ""
        )
        return text.removeprefix(".")

    def __str__(self) -> str:
        return f"{self.place or 'the value'} {self.reason}"


def read_json(text: bytes) -> Any:
    """Return the value of a JSON text.

    It may have parts that cannot be stored, such as numbers that are too long.

    Raises:
        ValueError: The text is not JSON or is too large. The message is a sentence.
    """
    if len(text) > MAX_JSON:
        raise ValueError(f"it has more than {MAX_JSON >> 20} MiB")
    if _has_many_parts(text):
        raise ValueError(f"it has more than {MAX_PARTS} brackets and commas")
    try:
        return json.loads(text.decode(), parse_int=_parse_int)
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} is not of a text in UTF-8") from error
    except RecursionError as error:
        raise ValueError(f"it nests lists and objects more than {MAX_NESTED} deep") from error


def _has_many_parts(text: bytes) -> bool:
    if sum(map(text.count, (b"[", b"{", b","))) <= MAX_PARTS:
        return False
    parts = (1 for match in _TEXT_OR_PART.finditer(text) if match[0][0] != ord('"'))
    return next(islice(parts, MAX_PARTS, None), None) is not None


def find_unstorable_part(value: Any) -> UnstorablePart | None:
    """Return the first part that cannot be stored, or None.

    The search uses a list instead of recursion, so that deep values do not exhaust the stack.
    """
    waiting: list[tuple[Any, _Path, int]] = [(value, None, 1)]
    while waiting:
        part, way, depth = waiting.pop()
        if isinstance(part, str) and part.isascii():
            continue
        what = _describe_problem(part)
        nests = isinstance(part, list | Mapping)
        if what is None and nests and depth > MAX_NESTED:
            what = (
                f"is nested more than {MAX_NESTED} lists and objects deep: make it flatter, or"
                " write it into a file"
            )
        if what is not None:
            return UnstorablePart(_parts(way), what)
        if nests:
            inner = part.items() if isinstance(part, Mapping) else enumerate(part)
            waiting += [(each, (way, key), depth + 1) for key, each in reversed(list(inner))]
    return None


def _describe_problem(part: Any) -> str | None:
    """Return what is wrong with the value itself, without its parts."""
    match part:
        case str():
            return None if _is_encodable(part) else _HALF_CHARACTER
        case float() if not math.isfinite(part):
            return (
                f"is {json.dumps(part)}, and JSON has no such number: give a finite one, null, or a"
                " text"
            )
        case int() if abs(part) >= _TOO_LONG:
            return f"is a whole number of more than {_MAX_DIGITS} digits: give it as a text"
        case Mapping():
            if not all(map(_is_encodable, part)):
                return f"has a name that {_HALF_CHARACTER}"
            return _describe_object_problem(part)
    return None


_HALF_CHARACTER = (
    "contains an unpaired surrogate, which UTF-8 cannot represent: write whole characters"
)


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _describe_object_problem(part: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the fields of a File or Directory."""
    kind = part.get("class")
    if isinstance(kind, list | Mapping):
        return "has a class that is not text"
    if kind not in ("File", "Directory"):
        return None
    for key in ("location", "path", "basename", "contents"):
        if not isinstance(part.get(key, ""), str):
            return f"is a {kind} whose {key} is not text"
    try:
        urlsplit(part.get("location", ""))
    except ValueError as error:
        return f"is a {kind} whose location is not a URL: {error}"
    for key in ("secondaryFiles", "listing"):
        entries = part.get(key, [])
        if not (isinstance(entries, list) and all(map(_is_object, entries))):
            return f"is a {kind} whose {key} is not a list of Files and Directories"
    return None


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("class") in ("File", "Directory")


def _parse_int(digits: str) -> int:
    """Return a whole number. One with too many digits is replaced, and refused later."""
    return int(digits) if len(digits.lstrip("-")) <= _MAX_DIGITS else _TOO_LONG


def _parts(way: _Path) -> list[str | int]:
    return list(_backwards(way))[::-1]


def _backwards(way: _Path) -> Iterator[str | int]:
    while way is not None:
        way, key = way
        yield key


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if part.isascii() and part.isidentifier() else f"[{quoted(part[:40])}]"
