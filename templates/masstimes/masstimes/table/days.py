"""The days and season of a mass time, and the sentence around it."""

from __future__ import annotations

import re

from masstimes.reading.days import Day, days_in
from masstimes.reading.lines import Reading, reading_at
from masstimes.reading.words import Topic, in_place

_MOST = 300


def mass_near(context: str, start: int) -> Reading:
    """Return the reading of the hour at ``start``, which is known to be a mass time."""
    found = reading_at(context, start, topic=Topic.MASS)
    if found is not None:
        return found
    line = context[context.rfind("\n", 0, start) + 1 : start]
    days = days_in(in_place(line))
    return Reading("", start, Topic.MASS, days.day, days.names)


def day_near(context: str, start: int) -> Day:
    """Return the kind of day of the hour at ``start``."""
    return mass_near(context, start).day


def sentence_at(text: str, start: int) -> str:
    """Return the line at a position.

    A line without words is preceded by the nearest line above that has one.
    """
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
