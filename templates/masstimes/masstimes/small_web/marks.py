"""Marks of masses on a page.

The masses are marked when the page is generated. The marks are removed before it is served.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from masstimes.hours import clock, find_candidates
from masstimes.text import page_text

#: Characters for private use, which no text has.
_SUNDAY, _WEEKDAY, _END = "\ue000", "\ue001", "\ue002"
_MARKED = re.compile(f"([{_SUNDAY}{_WEEKDAY}])([^{_END}]*){_END}")


@dataclass(frozen=True, slots=True)
class Mass:
    """A mass on a page.

    ``hour`` is as written, at ``start`` of the page's text (``mt-text``). ``time`` is as ``07:00``.
    ``candidate`` is its number among the candidates of ``mt-hours``, or None.
    """

    hour: str
    time: str
    day: str
    start: int
    candidate: int | None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


def mark_sunday(hour: str) -> str:
    """Mark an hour as a mass on Sundays."""
    return f"{_SUNDAY}{hour}{_END}"


def mark_weekday(hour: str) -> str:
    """Mark an hour as a mass on weekdays."""
    return f"{_WEEKDAY}{hour}{_END}"


def remove_marks(html: str) -> str:
    """Return a text without marks."""
    return re.sub(f"[{_SUNDAY}{_WEEKDAY}{_END}]", "", html)


def find_masses(html: str) -> Iterator[Mass]:
    """Yield the masses of HTML with marks."""
    if _END not in html:
        return
    text = page_text(html)
    numbers = _index_candidates(remove_marks(text))
    removed = 0
    for match in _MARKED.finditer(text):
        start = match.start() - removed
        removed += 2
        yield Mass(
            hour=match[2],
            time=clock(match[2]),
            day="sunday" if match[1] == _SUNDAY else "weekday",
            start=start,
            candidate=numbers.get(start),
        )


def _index_candidates(text: str) -> dict[int, int]:
    """Return the numbers of candidates by their position."""
    numbers: dict[int, int] = {}
    for number, candidate in enumerate(find_candidates(text, around=len(text))):
        numbers[candidate.start] = number
    return numbers
