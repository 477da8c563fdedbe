"""Rules that read the mass schedule of a page. Nearly all times that they find are masses."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from masstimes.reading.days import Day
from masstimes.reading.lines import Reading, find_readings
from masstimes.reading.words import Topic
from masstimes.table.days import find_sentence


@dataclass(frozen=True, slots=True)
class Order:
    """The mass schedule of a page.

    Attributes:
        sundays: Times as ``07:00``, in the order of the page, each once.
        weekdays: The same for weekdays.
        holidays: The same for feasts that are working days (*święta zniesione*).
        masses: Each time with its days and season.
        text: The part of the page with the schedule.
    """

    sundays: tuple[str, ...]
    weekdays: tuple[str, ...]
    holidays: tuple[str, ...] = ()
    masses: tuple[Reading, ...] = field(default=(), compare=False)
    text: str = field(default="", compare=False)


def find_order(text: str, *, is_mass_page: bool = False) -> Order | None:
    """Return the mass schedule of a page, or None.

    Each time is under a heading of masses, or beside words for them, and has its day. With
    ``is_mass_page``, the page's address or link suggests masses, so that no heading is needed.
    """
    masses = [
        reading
        for reading in find_readings(text, topic=Topic.MASS if is_mass_page else None)
        if reading.topic is Topic.MASS and (reading.day != "unknown" or reading.in_columns)
    ]
    if not masses:
        return None
    if not any(mass.day == "sunday" for mass in masses):
        masses += [replace(mass, day="sunday") for mass in masses if mass.is_daily]
        masses.sort(key=lambda mass: mass.start)
    start = text.rfind("\n", 0, masses[0].start) + 1
    end = text.find("\n", masses[-1].start)
    schedule_text = text[start : len(text) if end < 0 else end]
    return Order(
        _times(masses, "sunday"),
        _times(masses, "weekday"),
        _times(masses, "holiday"),
        tuple(masses),
        schedule_text,
    )


def make_order_line(
    page: Mapping[str, Any], *, is_mass_page: bool = False
) -> dict[str, Any] | None:
    """Return the schedule of a page as a line of `mt-rules`, or None."""
    if (order := find_order(page["text"], is_mass_page=is_mass_page)) is None:
        return None
    return {
        "domain": page["domain"],
        "url": page["url"],
        "sundays": order.sundays,
        "weekdays": order.weekdays,
        "holidays": order.holidays,
        "masses": [
            {
                "time": mass.time,
                "day": mass.day,
                "days": mass.days,
                "weeks": mass.weeks,
                "season": mass.season,
                "months": mass.months,
                "start": mass.start,
                "sentence": find_sentence(page["text"], mass.start),
            }
            for mass in order.masses
        ],
        "text": order.text,
    }


def _times(masses: list[Reading], day: Day) -> tuple[str, ...]:
    return tuple(dict.fromkeys(mass.time for mass in masses if mass.day == day))
