"""Times under headings: few are found, and nearly all of them are times of masses."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import zip_longest

from masstimes.hours import HOUR, clock

_FLAGS = re.IGNORECASE
#: The source's patterns; line breaks that its print put in are left out.
MAIN = re.compile(
    r"porządek\s+mszy\s+(świętych|św\.|św)|msz[ea]\s+([śs]wi[eę]t[ea]|św\.|św)", _FLAGS
)
SUNDAY = re.compile(
    r"niedziel[ae]\s+i\s+(dni\s+(świąteczne|św\.|św)|święta)|niedziel[ea]|porządek\s+świąteczny",
    _FLAGS,
)
WEEKDAY = re.compile(
    r"dzień\s+powszedni|dni\s+powszednie|w\s+tygodniu|porządek\s+zwykły"
    r"|od\s+poniedziałku\s+do\s+soboty",
    _FLAGS,
)
_HOUR = re.compile(rf"(?<![\d:.])(?:{HOUR})(?![\d:.]*\d)", _FLAGS)


_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Order:
    """Times as ``07:00``, in the order of the page, each once. ``text``: in which they stand, from
    the main heading on."""

    sundays: tuple[str, ...]
    weekdays: tuple[str, ...]
    text: str = field(default="", compare=False)


def order_in(text: str) -> Order | None:
    """The first order of masses of a page: a main heading, behind it a heading of Sundays with
    times, behind that a heading of weekdays with times, and between the main heading and the last
    one no other. None: there is none."""
    weekday: re.Match[str] | None = None
    headings = list(MAIN.finditer(text))
    for main, after in zip_longest(headings, headings[1:]):
        if weekday is None or weekday.start() < main.end():
            weekday = WEEKDAY.search(text, main.end())
        if weekday is None:
            return None
        if after is not None and after.end() <= weekday.start():
            continue
        between = text[main.end() : weekday.start()]
        sunday = SUNDAY.search(between)
        sundays = () if sunday is None else _times(between[sunday.end() :])
        if not sundays:
            continue
        behind = _lines_with_numbers(text, weekday.end())
        weekdays = _times(behind)
        if weekdays:
            return Order(
                sundays, weekdays, f"{text[main.start() : weekday.end()]}{behind}".rstrip()
            )
    return None


def _lines_with_numbers(text: str, start: int) -> str:
    """As long as each has one; the rest of the heading's own line may have none."""
    kept: list[str] = []
    has_numbers = False
    while start <= len(text):
        end = text.find("\n", start)
        line = text[start : len(text) if end < 0 else end]
        numbers = _DIGIT.search(line) is not None
        if kept and not numbers and (line.strip() or has_numbers):
            break
        if numbers or not kept:
            kept.append(line)
        has_numbers |= numbers
        if end < 0:
            break
        start = end + 1
    return "\n".join(kept)


def times_in(text: str) -> list[tuple[str, int]]:
    """What the rules take for a time, as ``07:00``, and where it stands."""
    return [(clock(found[0]), found.start()) for found in _HOUR.finditer(text)]


def _times(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(time for time, _ in times_in(text)))
