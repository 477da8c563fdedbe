"""Merging of all evidence for a time on a day at a site into one row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from masstimes.reading.days import Day, joined_days, joined_seasons
from masstimes.reading.words import Topic
from masstimes.table.days import mass_near, sentence_at

_DAYS: dict[str, Day] = {"sundays": "sunday", "weekdays": "weekday", "holidays": "holiday"}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One place that mentions a mass.

    Attributes:
        days: The single days as ``mon-fri``, or empty for all days of that kind.
        season: The season in the page's words, or empty for the whole year.
        months: The months of the season as ``7-8``.
        start: The position of the time, for a stable order.
        rules: The rules found the mass.
        classifier: The classifier found the mass.
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
    )


def rows(
    orders: Iterable[Mapping[str, Any]], candidates: Iterable[Mapping[str, Any]]
) -> list[Evidence]:
    """Return rows sorted by site, day and time.

    A time with an unknown day is left out if the same time has a known day.
    """
    by_key: dict[tuple[str, Day, str], list[Evidence]] = defaultdict(list)
    ruled: dict[tuple[str, str], set[Day]] = defaultdict(set)
    for order in orders:
        for found in from_order(order):
            by_key[found.domain, found.day, found.time].append(found)
            ruled[found.url, found.time].add(found.day)
    for line in candidates:
        if line["mass"] and not _is_for_something_else(line):
            said = from_candidate(line, ruled.get((line["url"], line["time"]), ()))
            by_key[said.domain, said.day, said.time].append(said)
    return sorted(_known(by_key), key=lambda row: (row.domain, row.day, row.time))


def _is_for_something_else(line: Mapping[str, Any]) -> bool:
    """Return whether the whole page says that the hour is no mass.

    The classifier sees only a part of the page.
    """
    topic = line.get("topic")  # lines of earlier releases have none
    return topic is not None and topic != Topic.MASS


def _known(by_key: dict[tuple[str, Day, str], list[Evidence]]) -> Iterator[Evidence]:
    for (domain, day, time), evidence in by_key.items():
        dated = [by_key.get((domain, other, time)) for other in _DAYS.values()]
        if day == "unknown" and any(dated):
            continue
        yield _best(evidence)


def _best(evidence: list[Evidence]) -> Evidence:
    """Return the most probable evidence, with the sources of all.

    The days and season of the rules win, because the rules read the whole page.
    """
    best = min(
        evidence,
        key=lambda each: (-(each.probability or 0), not each.sentence, each.url, each.start),
    )
    ruled = [each for each in evidence if each.rules]
    said = sorted(ruled or [best], key=lambda each: (each.url, each.start))
    season, months = joined_seasons([(each.season, each.months) for each in said])
    return replace(
        best,
        rules=bool(ruled),
        classifier=any(each.classifier for each in evidence),
        days=_all_days(ruled or [best]),
        season=season,
        months=months,
    )


def _all_days(evidence: list[Evidence]) -> str:
    """Join the days of all, empty if one of them means all days of the kind."""
    named = [each.days for each in evidence]
    return "" if "" in named else joined_days(named)
