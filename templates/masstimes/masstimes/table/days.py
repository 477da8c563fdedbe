"""The days and season of a mass time, and the sentence around it."""

import re

from masstimes.reading.days import find_days
from masstimes.reading.lines import Reading, find_reading
from masstimes.reading.words import Topic, fold_in_place

_MAX_LINE_LENGTH = 300


def read_mass(context: str, start: int) -> Reading:
    """Return the reading of the hour at ``start``, which is known to be a mass time."""
    reading = find_reading(context, start, topic=Topic.MASS)
    if reading is not None:
        return reading
    line = context[context.rfind("\n", 0, start) + 1 : start]
    days = find_days(fold_in_place(line))
    return Reading("", start, Topic.MASS, days.day, days.names)


def find_sentence(text: str, start: int) -> str:
    """Return the line at a position.

    A line without words is preceded by the nearest line above that has one.
    """
    begin = text.rfind("\n", 0, start) + 1
    end = text.find("\n", start)
    line = _normalise_spaces(text[begin : len(text) if end < 0 else end])
    above = text[:begin].rstrip()
    while above and not re.search(r"[^\W\d_]{3}", line):
        above, _, line_above = above.rpartition("\n")
        line = f"{_normalise_spaces(line_above)} {line}".strip()
        above = above.rstrip()
    return line if len(line) <= _MAX_LINE_LENGTH else f"{line[:_MAX_LINE_LENGTH]}…"


def _normalise_spaces(text: str) -> str:
    return " ".join(text.strip(" \t#*|").split())
