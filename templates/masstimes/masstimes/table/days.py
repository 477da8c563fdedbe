"""Of which days a time speaks, by the words near it; and the sentence that it stands in."""

from __future__ import annotations

import re
from typing import Literal

from masstimes.folding import folded

Day = Literal["sunday", "weekday", "unknown"]

#: As ``folded``. "Msze święte" are holy masses on any day, "pierwszy piątek" is a weekday.
_SUNDAY = r"niedziel\w*|\bnd\b|\bndz\b|swiateczn\w*|\bswieta\b(?<!msze swieta)(?<!msza swieta)"
_WEEKDAY = (
    r"powszedni\w*|robocz\w*|zwykl\w*|w tygodniu|codzien\w*"
    r"|poniedzial\w*|\bwtor\w*|\bsrod[aeęy]\b|czwart\w*|\bpiat\w*|\bsobot\w*"
    r"|\bpn\b|\bpon\b|\bwt\b|\bsr\b|\bczw\b|\bpt\b|\bsob\b|\bsb\b"
)
_DAY = re.compile(rf"(?P<sunday>{_SUNDAY})|(?P<weekday>{_WEEKDAY})")
_MOST = 300


def day_near(context: str, start: int, end: int) -> Day:
    """The nearest before the hour counts, where there is none the nearest behind it on its line."""
    before = list(_DAY.finditer(folded(context[:start])))
    if before:
        return _day(before[-1])
    behind = _DAY.search(folded(context[end:].split("\n", 1)[0]))
    return _day(behind) if behind else "unknown"


def _day(found: re.Match[str]) -> Day:
    return "sunday" if found["sunday"] else "weekday"


def sentence_at(text: str, start: int) -> str:
    """The line there; where that has no word, with the nearest line above that has one."""
    begin = text.rfind("\n", 0, start) + 1
    end = text.find("\n", start)
    line = _plain(text[begin : len(text) if end < 0 else end])
    above = text[:begin].rstrip()
    while above and not re.search(r"[^\W\d_]{3}", line):
        above, _, one = above.rpartition("\n")
        line = f"{_plain(one)} {line}".strip()
        above = above.rstrip()
    return line if len(line) <= _MOST else f"{line[:_MOST]}…"


def _plain(text: str) -> str:
    return " ".join(text.strip(" \t#*|").split())
