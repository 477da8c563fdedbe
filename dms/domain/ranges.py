"""Byte ranges and entity tags of requests (RFC 9110, sections 13 and 14).

As the RFC requires, a header that cannot be parsed is ignored. A request for several ranges gets
the whole content, which the RFC allows.
"""

import re
from dataclasses import dataclass

_RANGE = re.compile(r"\s*bytes\s*=\s*([0-9]*)\s*-\s*([0-9]*)\s*", re.ASCII | re.IGNORECASE)
#: Maximum number of digits of a position in a file.
_MAX_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Span:
    """The bytes from ``start`` up to, but not including, ``end``."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """Return the number of bytes."""
        return self.end - self.start


class RangeNotSatisfiable(Exception):
    """The range has no byte of the content."""


def parse_range(header: str | None, *, size: int) -> Span | None:
    """Return the range that a ``Range`` header asks for; None for the whole content.

    Raises:
        RangeNotSatisfiable: No byte of the content is in the range.
    """
    match = _RANGE.fullmatch(header or "")
    if match is None or not (match[1] or match[2]) or max(map(len, match.groups())) > _MAX_DIGITS:
        return None
    if not match[1]:
        span = Span(max(size - int(match[2]), 0), size)
    else:
        last = int(match[2]) if match[2] else size - 1
        if match[2] and last < int(match[1]):
            return None
        span = Span(int(match[1]), min(last + 1, size))
    if span.length <= 0:
        raise RangeNotSatisfiable
    return span


def names_tag(header: str | None, tag: str) -> bool:
    """Return whether ``If-None-Match`` has ``tag`` (with its quotes); weak tags match, too."""
    return any(
        entry.strip().removeprefix("W/") in {"*", tag} for entry in (header or "").split(",")
    )
