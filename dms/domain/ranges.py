"""Which part of a content a request asks for (RFC 9110, sections 13 and 14): one range of bytes, or
all.

A header that is not understood is ignored, as the RFC wants; several ranges at once are answered
with the whole content, which it allows.
"""

import re
from dataclasses import dataclass

_RANGE = re.compile(r"\s*bytes\s*=\s*([0-9]*)\s*-\s*([0-9]*)\s*", re.ASCII | re.IGNORECASE)
#: Digits of a number that can be a place in a file.
_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes ``start`` up to ``end``, which is not among them."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start


class NotSatisfiable(Exception):
    """The range begins behind the end."""


def span_of(header: str | None, *, size: int) -> Span | None:
    """None: all of it. Raises ``NotSatisfiable``."""
    found = _RANGE.fullmatch(header or "")
    if found is None or not (found[1] or found[2]) or max(map(len, found.groups())) > _MOST_DIGITS:
        return None
    if not found[1]:
        span = Span(max(size - int(found[2]), 0), size)
    else:
        last = int(found[2]) if found[2] else size - 1
        if found[2] and last < int(found[1]):
            return None
        span = Span(int(found[1]), min(last + 1, size))
    if span.length <= 0:
        raise NotSatisfiable
    return span


def names_tag(header: str | None, tag: str) -> bool:
    """Is ``tag`` (with its quotes) among those of ``If-None-Match``? Weak ones count, too."""
    return any(
        given.strip().removeprefix("W/") in {"*", tag} for given in (header or "").split(",")
    )
