"""Where masses stand on a page: they are marked as the page is made, and the marks are taken out
before anybody reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from masstimes.hours import candidates, clock
from masstimes.text import page_text

#: For private use, so that no text has them.
_SUNDAY, _WEEKDAY, _END = "\ue000", "\ue001", "\ue002"
_MARKED = re.compile(f"([{_SUNDAY}{_WEEKDAY}])([^{_END}]*){_END}")


@dataclass(frozen=True, slots=True)
class Mass:
    """``hour`` is as it is written, at ``start`` of the page's text (``mt-text``); ``time``: as
    ``07:00``; ``candidate``: which one of the page's it is for ``mt-hours``, None for none.
    """

    hour: str
    time: str
    day: str
    start: int
    candidate: int | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def sunday(hour: str) -> str:
    return f"{_SUNDAY}{hour}{_END}"


def weekday(hour: str) -> str:
    return f"{_WEEKDAY}{hour}{_END}"


def without_marks(html: str) -> str:
    return re.sub(f"[{_SUNDAY}{_WEEKDAY}{_END}]", "", html)


def masses(html: str) -> Iterator[Mass]:
    """``html``: with marks."""
    if _END not in html:
        return
    text = page_text(html)
    numbers = _candidates(without_marks(text))
    taken_out = 0
    for found in _MARKED.finditer(text):
        start = found.start() - taken_out
        taken_out += 2
        yield Mass(
            hour=found[2],
            time=clock(found[2]),
            day="sunday" if found[1] == _SUNDAY else "weekday",
            start=start,
            candidate=numbers.get(start),
        )


def _candidates(text: str) -> dict[int, int]:
    """Their numbers by where they stand."""
    numbers: dict[int, int] = {}
    for number, found in enumerate(candidates(text, around=len(text))):
        numbers[found.start] = number
    return numbers
