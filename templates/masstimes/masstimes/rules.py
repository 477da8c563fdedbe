"""Times under headings: few are found, and nearly all of them are times of masses."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

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
    for main in MAIN.finditer(text):
        weekday = WEEKDAY.search(text, main.end())
        if weekday is None:
            return None
        between = text[main.end() : weekday.start()]
        sunday = SUNDAY.search(between)
        if sunday is None or MAIN.search(between):
            continue
        sundays = _times(between[sunday.end() :])
        behind = _lines_with_numbers(text[weekday.end() :])
        weekdays = _times(behind)
        if sundays and weekdays:
            return Order(
                sundays, weekdays, f"{text[main.start() : weekday.end()]}{behind}".rstrip()
            )
    return None


def _lines_with_numbers(text: str) -> str:
    """As long as each has one; the rest of the heading's own line may have none."""
    first, *others = text.split("\n")
    kept = [first]
    for line in others:
        if not re.search(r"\d", line):
            if line.strip() or re.search(r"\d", "".join(kept)):
                break
            continue
        kept.append(line)
    return "\n".join(kept)


def times_in(text: str) -> list[tuple[str, int]]:
    """What the rules take for a time, as ``07:00``, and where it stands."""
    return [(clock(found[0]), found.start()) for found in _HOUR.finditer(text)]


def _times(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(time for time, _ in times_in(text)))
