"""One row for each time of a day at a site, of all that speaks for it."""

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
    """One place that says that there is a mass.

    Attributes:
        days: the days one by one, as ``mon-fri``; empty where all of that kind are meant.
        season: the season in the page's words; empty for the whole year.
        months: the season's months, as ``7-8``.
        start: where the time stands, so that equal input gives equal rows.
        rules: the rules say that it is a mass.
        classifier: the classifier says that it is a mass.
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
        """Return who says that it is a mass."""
        return "both" if self.rules and self.classifier else "rules" if self.rules else "classifier"


def from_order(order: Mapping[str, Any]) -> Iterator[Evidence]:
    """Yield what a line of `mt-rules` says; lines of earlier releases have times alone."""
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
    """Return what a line of `mt-classify` says that is a mass.

    Args:
        line: the candidate.
        ruled: days for which the rules have this time on this page.
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
    """By site, day and time; a time whose day nobody knows is left to one that has a day."""
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
    """Tell whether the words of the whole page, of which the classifier sees a part, say so."""
    topic = line.get("topic")  # lines of earlier releases have none
    return topic is not None and topic != Topic.MASS


def _known(by_key: dict[tuple[str, Day, str], list[Evidence]]) -> Iterator[Evidence]:
    for (domain, day, time), evidence in by_key.items():
        dated = [by_key.get((domain, other, time)) for other in _DAYS.values()]
        if day == "unknown" and any(dated):
            continue
        yield _best(evidence)


def _best(evidence: list[Evidence]) -> Evidence:
    """Return the most probable, with a sentence; that others say so, too, is added.

    The rules have read the whole page, and the classifier a part of it: their days and season win.
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
    """Join the days of all; empty where one of them means all days of the kind."""
    named = [each.days for each in evidence]
    return "" if "" in named else joined_days(named)
