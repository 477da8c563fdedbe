"""What CWL values can be kept: JSON that every program reads, of a depth that they can follow."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from sluice.visible_text import quoted

#: Lists and objects within one another. cwltool follows twice as many.
MOST_NESTED = 256
#: Folders within one another, which are two levels each where they are listed.
MOST_FOLDERS = 100
#: Bytes of JSON that are read, and brackets and commas in it: each may become an object of Python's
#: of some hundred bytes.
MOST_JSON, MOST_PARTS = 16 << 20, 500_000
#: Digits of a whole number: Python reads and writes no more.
_MOST_DIGITS = 4300
_TOO_LONG = 10**_MOST_DIGITS

_SHOWN = 4
#: A text, which may have brackets and commas in it, or one of these.
_TEXT_OR_PART = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{,]', re.DOTALL)

#: The way from a value to one inside it; None: it itself.
_Way = tuple["_Way", "str | int"] | None


@dataclass(frozen=True, slots=True)
class Flaw:
    """``way``: keys and indexes that lead to it. ``what``: a sentence without its subject, with
    what to do."""

    way: Sequence[str | int]
    what: str

    @property
    def place(self) -> str:
        """``o[2].name``; empty for the value itself."""
        shown = "".join(map(_step, self.way[:_SHOWN])) + ("…" if len(self.way) > _SHOWN else "")
        return shown.removeprefix(".")

    def __str__(self) -> str:
        return f"{self.place or 'the value'} {self.what}"


def read_json(text: bytes) -> Any:
    """The value, which may have flaws: what Python itself would not read as a number too. Raises
    ``ValueError``, a sentence, also where it would take too much memory."""
    if len(text) > MOST_JSON:
        raise ValueError(f"it has more than {MOST_JSON >> 20} MiB")
    if _has_many_parts(text):
        raise ValueError(f"it has more than {MOST_PARTS} brackets and commas")
    try:
        return json.loads(text.decode(), parse_int=_whole)
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} is not of a text in UTF-8") from error
    except RecursionError as error:
        raise ValueError(f"it nests lists and objects more than {MOST_NESTED} deep") from error


def _has_many_parts(text: bytes) -> bool:
    if sum(map(text.count, (b"[", b"{", b","))) <= MOST_PARTS:
        return False
    parts = (1 for found in _TEXT_OR_PART.finditer(text) if found[0][0] != ord('"'))
    return next(islice(parts, MOST_PARTS, None), None) is not None


def flaw_in(value: Any) -> Flaw | None:
    """The first thing in it that cannot be kept. Level by level: what goes deep does not exhaust
    the stack."""
    waiting: list[tuple[Any, _Way, int]] = [(value, None, 1)]
    while waiting:
        part, way, depth = waiting.pop()
        if isinstance(part, str) and part.isascii():
            continue
        what = _flaw_of(part)
        nests = isinstance(part, list | Mapping)
        if what is None and nests and depth > MOST_NESTED:
            what = (
                f"lies more than {MOST_NESTED} lists and objects deep: make it flatter, or write it"
                " into a file"
            )
        if what is not None:
            return Flaw(_parts(way), what)
        if nests:
            inner = part.items() if isinstance(part, Mapping) else enumerate(part)
            waiting += [(each, (way, key), depth + 1) for key, each in reversed(list(inner))]
    return None


def _flaw_of(part: Any) -> str | None:
    """Of the value itself, whatever lies in it."""
    match part:
        case str():
            return None if _whole_text(part) else _HALF
        case float() if not math.isfinite(part):
            return (
                f"is {json.dumps(part)}, and JSON has no such number: give a finite one, null, or a"
                " text"
            )
        case int() if abs(part) >= _TOO_LONG:
            return f"is a whole number of more than {_MOST_DIGITS} digits: give it as a text"
        case Mapping():
            if not all(map(_whole_text, part)):
                return f"has a name that {_HALF}"
            return _flaw_of_object(part)
    return None


_HALF = "has half a character (an unpaired surrogate), which UTF-8 cannot hold: write whole ones"


def _whole_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _flaw_of_object(part: Mapping[str, Any]) -> str | None:
    """Of a File or Directory, fields of another kind than CWL says."""
    kind = part.get("class")
    if isinstance(kind, list | Mapping):
        return "has a class that is no text"
    if kind not in ("File", "Directory"):
        return None
    for key in ("location", "path", "basename", "contents"):
        if not isinstance(part.get(key, ""), str):
            return f"is a {kind} whose {key} is no text"
    try:
        urlsplit(part.get("location", ""))
    except ValueError as error:
        return f"is a {kind} whose location is no URL: {error}"
    for key in ("secondaryFiles", "listing"):
        found = part.get(key, [])
        if not (isinstance(found, list) and all(map(_is_object, found))):
            return f"is a {kind} whose {key} is no list of Files and Directories"
    return None


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("class") in ("File", "Directory")


def _whole(digits: str) -> int:
    """Of one with too many digits another: it is refused later, where its place is known."""
    return int(digits) if len(digits.lstrip("-")) <= _MOST_DIGITS else _TOO_LONG


def _parts(way: _Way) -> list[str | int]:
    return list(_backwards(way))[::-1]


def _backwards(way: _Way) -> Iterator[str | int]:
    while way is not None:
        way, key = way
        yield key


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if part.isascii() and part.isidentifier() else f"[{quoted(part[:40])}]"
