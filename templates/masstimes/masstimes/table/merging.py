"""Merging of all evidence for a time at a site into a row for each season."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from masstimes.reading.days import Day, joined_days
from masstimes.reading.weeks import weeks_at
from masstimes.reading.words import Topic, in_place
from masstimes.table.days import mass_near, sentence_at

_DAYS: dict[str, Day] = {"sundays": "sunday", "weekdays": "weekday", "holidays": "holiday"}
#: A season that is summer or winter, in any words.
_HALF_YEAR = re.compile(
    r"(?:tylko\s+|w\s+|okres\w*\s+|czas\w*\s+)*(?P<name>lat|let|zim)[a-z]*(?:\s+okres\w*)?"
)
#: Parish, domain, kind of day and time.
_Time = tuple[str, str, Day, str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One place that mentions a mass.

    Attributes:
        days: The single days as ``mon-fri``, or empty for all days of that kind.
        weeks: The weeks of the month as ``1`` or ``2 4``, or empty for every week.
        season: The season in the page's words, or empty for the whole year.
        months: The months of the season as ``7-8``.
        start: The position of the time, for a stable order.
        rules: The rules found the mass.
        classifier: The classifier found the mass.
        parish: The id of the parish, or empty.
    """

    domain: str
    day: Day
    time: str
    url: str
    sentence: str
    start: int
    rules: bool
    classifier: bool
    probability: float | None = None
    days: str = ""
    season: str = ""
    months: str = ""
    weeks: str = ""
    parish: str = ""

    @property
    def at(self) -> _Time:
        """Return the site, the kind of day and the time."""
        return self.parish, self.domain, self.day, self.time

    @property
    def period(self) -> tuple[str, str]:
        """Return the part of the year, equal for equal months, and the weeks of the month."""
        if self.months:
            return self.months, self.weeks
        words = " ".join(in_place(self.season).split())
        if half := _HALF_YEAR.fullmatch(words):
            words = "zim" if half["name"] == "zim" else "lat"
        return words, self.weeks

    @property
    def source(self) -> str:
        """Return the source of the mass: rules, classifier or both."""
        return "both" if self.rules and self.classifier else "rules" if self.rules else "classifier"


def from_order(order: Mapping[str, Any]) -> Iterator[Evidence]:
    """Yield the evidence in a line of `mt-rules`. Lines of earlier releases have only times."""
    masses = order.get("masses") or [
        {"time": time, "day": day} for name, day in _DAYS.items() for time in order.get(name) or ()
    ]
    for mass in masses:
        yield Evidence(
            domain=order["domain"],
            day=mass["day"],
            time=mass["time"],
            url=order["url"],
            sentence=mass.get("sentence", ""),
            start=mass.get("start", -1),
            rules=True,
            classifier=False,
            days=mass.get("days", ""),
            season=mass.get("season", ""),
            months=mass.get("months", ""),
            weeks=mass.get("weeks", ""),
        )


def from_candidate(line: Mapping[str, Any], ruled: Iterable[Day]) -> Evidence:
    """Return the evidence in a line of `mt-classify` that is a mass.

    Args:
        line: The candidate.
        ruled: The days on which the rules found this time on this page.
    """
    days = set(ruled)
    context, start = line["context"], line["start"]
    near = mass_near(context, start)
    day = days.pop() if len(days) == 1 else near.day
    is_same = day == near.day
    return Evidence(
        domain=line["domain"],
        day=day,
        time=line["time"],
        url=line["url"],
        sentence=sentence_at(context, start),
        start=start,
        rules=False,
        classifier=True,
        probability=line["probability"],
        days=near.days if is_same else "",
        season=near.season if is_same else "",
        months=near.months if is_same else "",
        weeks=weeks_at(context, start) if is_same else "",
    )


def _no_parish(_domain: str, _url: str) -> str:
    return ""


def rows(
    orders: Iterable[Mapping[str, Any]],
    candidates: Iterable[Mapping[str, Any]],
    *,
    parish_at: Callable[[str, str], str] = _no_parish,
) -> list[Evidence]:
    """Return rows sorted by site, day and time, one for each season and weeks of the month.

    A time with an unknown day is left out if the same time has a known day.

    Args:
        orders: Lines of `mt-rules`.
        candidates: Lines of `mt-classify`.
        parish_at: Returns the parish of a domain and an address.
    """
    by_time: dict[_Time, list[Evidence]] = defaultdict(list)
    ruled: dict[tuple[str, str], set[Day]] = defaultdict(set)

    def add(found: Evidence) -> None:
        with_parish = replace(found, parish=parish_at(found.domain, found.url))
        by_time[with_parish.at].append(with_parish)

    for order in orders:
        for found in from_order(order):
            add(found)
            ruled[found.url, found.time].add(found.day)
    for line in candidates:
        if line["mass"] and not _is_for_something_else(line):
            add(from_candidate(line, ruled.get((line["url"], line["time"]), ())))
    return sorted(
        _known(by_time), key=lambda row: (row.domain, row.parish, row.day, row.time, row.period)
    )


def _is_for_something_else(line: Mapping[str, Any]) -> bool:
    """Return whether the whole page says that the hour is no mass.

    The classifier sees only a part of the page.
    """
    topic = line.get("topic")  # lines of earlier releases have none
    return topic is not None and topic != Topic.MASS


def _known(by_time: Mapping[_Time, list[Evidence]]) -> Iterator[Evidence]:
    for (parish, domain, day, time), evidence in by_time.items():
        dated = [by_time.get((parish, domain, other, time)) for other in _DAYS.values()]
        if day == "unknown" and any(dated):
            continue
        yield from map(_best, _by_period(evidence))


def _by_period(evidence: list[Evidence]) -> Iterable[list[Evidence]]:
    """Return the evidence by season and weeks.

    The rules read the whole page. So the classifier confirms all that they found, and adds a period
    only for another page that names it.
    """
    periods: dict[tuple[str, str], list[Evidence]] = defaultdict(list)
    for each in evidence:
        if each.rules:
            periods[each.period].append(each)
    ruled = {period: found[0] for period, found in periods.items()}
    pages = {each.url for found in periods.values() for each in found}
    for each in evidence:
        if each.rules:
            continue
        is_vague = each.url in pages or each.period == ("", "")
        if ruled and is_vague and each.period not in ruled:
            for period, first in ruled.items():
                periods[period].append(
                    replace(first, rules=False, classifier=True, probability=each.probability)
                )
        else:
            periods[each.period].append(each)
    return periods.values()


def _best(evidence: list[Evidence]) -> Evidence:
    """Return the most probable evidence, with the sources and days of all.

    The days and season of the rules win, because the rules read the whole page.
    """
    best = min(
        evidence,
        key=lambda each: (-(each.probability or 0), not each.sentence, each.url, each.start),
    )
    ruled = [each for each in evidence if each.rules]
    said = min(ruled or [best], key=lambda each: (each.url, each.start))
    return replace(
        best,
        rules=bool(ruled),
        classifier=any(each.classifier for each in evidence),
        days=_all_days(ruled or evidence),
        season=said.season,
        months=said.months,
    )


def _all_days(evidence: list[Evidence]) -> str:
    """Join the days of all, empty if one of them means all days of the kind."""
    named = [each.days for each in evidence]
    return "" if "" in named else joined_days(named)
