"""What may be a time of a mass: everything that looks like one, with what stands around it. Many of
them are none; nearly none is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: As the source has it; ``oo`` is what people write for two zeros.
HOUR = r"(?:0?[6-9]|1\d|2[0-2])[:.](?:oo|[0-5]\d)|6|7|8|9|1\d|2[0-2]"

#: Before it stands one of ``,(`` or white space, behind it one of ``,);`` or white space. The
#: source's neighbours miss the second time in "7:00, 9:00"; its white space was lost in print.
_CANDIDATE = re.compile(rf"(?<![^,(\s])(?:{HOUR})(?![^,);\s])", re.IGNORECASE)

#: Characters of a context to each side.
AROUND = 150


@dataclass(frozen=True, slots=True)
class Candidate:
    """``hour``: as it is written; ``context``: what stands around it, where ``start`` and ``end``
    are its place."""

    hour: str
    context: str
    start: int
    end: int

    @property
    def clock(self) -> str:
        return clock(self.hour)


def candidates(text: str, *, around: int = AROUND) -> Iterator[Candidate]:
    """In their order. ``around``: characters to each side."""
    for found in _CANDIDATE.finditer(text):
        start, end = found.span()
        if text[start - 1 : start] == "(" and text[end : end + 1] == ")":
            continue
        begin = max(0, start - around)
        yield Candidate(found[0], text[begin : end + around], start - begin, end - begin)


def clock(hour: str) -> str:
    """``7``, ``7.oo`` and ``07:00`` are ``07:00``. Raises ``ValueError`` for what is no hour."""
    if re.fullmatch(HOUR, hour, re.IGNORECASE) is None:
        raise ValueError(f"{hour!r} is no hour from 6 to 22")
    full, _, minutes = hour.lower().replace(".", ":").replace("oo", "00").partition(":")
    return f"{int(full):02}:{minutes or '00'}"
