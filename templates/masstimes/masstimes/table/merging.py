"""One row for each time of a day at a site, of all that speaks for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from masstimes.rules import times_in
from masstimes.table.days import Day, day_near, sentence_at

_DAYS: dict[str, Day] = {"sundays": "sunday", "weekdays": "weekday"}


@dataclass(frozen=True, slots=True)
class Evidence:
    """``rules`` and ``classifier``: who says that it is a mass; ``start``: where it stands, so that
    equal input gives equal rows."""

    domain: str
    day: Day
    time: str
    url: str
    sentence: str
    start: int
    rules: bool
    classifier: bool
    probability: float | None = None

    @property
    def source(self) -> str:
        return "both" if self.rules and self.classifier else "rules" if self.rules else "classifier"


def from_order(order: Mapping[str, Any]) -> Iterator[Evidence]:
    """Of a line of `mt-rules`. A time of Sundays is looked for from the top of the order, one of
    weekdays from its end."""
    text = str(order.get("text", ""))
    places = times_in(text)
    for name, day in _DAYS.items():
        for time in order.get(name) or ():
            found = [start for each, start in places if each == time]
            start = -1
            if found:
                start = found[0] if day == "sunday" else found[-1]
            yield Evidence(
                domain=order["domain"],
                day=day,
                time=time,
                url=order["url"],
                sentence=sentence_at(text, start) if found else "",
                start=start,
                rules=True,
                classifier=False,
            )


def from_candidate(line: Mapping[str, Any], ruled: Iterable[Day]) -> Evidence:
    """Of a line of `mt-classify` that is a mass. ``ruled``: days for which the rules have this time
    on this page."""
    days = set(ruled)
    context, start, end = line["context"], line["start"], line["end"]
    day = days.pop() if len(days) == 1 else day_near(context, start, end)
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
        if line["mass"]:
            said = from_candidate(line, ruled.get((line["url"], line["time"]), ()))
            by_key[said.domain, said.day, said.time].append(said)
    return sorted(_known(by_key), key=lambda row: (row.domain, row.day, row.time))


def _known(by_key: dict[tuple[str, Day, str], list[Evidence]]) -> Iterator[Evidence]:
    for (domain, day, time), evidence in by_key.items():
        dated = [by_key.get((domain, other, time)) for other in _DAYS.values()]
        if day == "unknown" and any(dated):
            continue
        yield _best(evidence)


def _best(evidence: list[Evidence]) -> Evidence:
    """The most probable, with a sentence; that others say so, too, is added."""
    best = min(
        evidence,
        key=lambda each: (-(each.probability or 0), not each.sentence, each.url, each.start),
    )
    return replace(
        best,
        rules=any(each.rules for each in evidence),
        classifier=any(each.classifier for each in evidence),
    )
