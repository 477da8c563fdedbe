"""Merging of all evidence for a time at a site into a row for each season."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from masstimes.reading.days import Day, join_days
from masstimes.reading.words import Topic, fold_in_place
from masstimes.table.days import find_sentence, read_mass

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
        words = " ".join(fold_in_place(self.season).split())
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


def from_candidate(line: Mapping[str, Any], rule_days: Iterable[Day]) -> Evidence:
    """Return the evidence in a line of `mt-classify` that is a mass.

    Args:
        line: The candidate.
        rule_days: The days on which the rules found this time on this page.
    """
    days = set(rule_days)
    context, start = line["context"], line["start"]
    reading = read_mass(context, start)
    day = days.pop() if len(days) == 1 else reading.day
    is_same = day == reading.day
    return Evidence(
        domain=line["domain"],
        day=day,
        time=line["time"],
        url=line["url"],
        sentence=find_sentence(context, start),
        start=start,
        rules=False,
        classifier=True,
        probability=line["probability"],
        days=reading.days if is_same else "",
        season=reading.season if is_same else "",
        months=reading.months if is_same else "",
        weeks=reading.weeks if is_same else "",
    )


def _no_parish(_domain: str, _url: str) -> str:
    return ""


def merge_rows(
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
    rule_days: dict[tuple[str, str], set[Day]] = defaultdict(set)

    def add(evidence: Evidence) -> None:
        with_parish = replace(evidence, parish=parish_at(evidence.domain, evidence.url))
        by_time[with_parish.at].append(with_parish)

    for order in orders:
        for evidence in from_order(order):
            add(evidence)
            rule_days[evidence.url, evidence.time].add(evidence.day)
    for line in candidates:
        if line["mass"] and not _is_for_something_else(line):
            add(from_candidate(line, rule_days.get((line["url"], line["time"]), ())))
    return sorted(
        _select_rows(by_time),
        key=lambda row: (row.domain, row.parish, row.day, row.time, row.period),
    )


def _is_for_something_else(line: Mapping[str, Any]) -> bool:
    """Return whether the whole page says that the hour is no mass.

    The classifier sees only a part of the page.
    """
    topic = line.get("topic")  # lines of earlier releases have none
    return topic is not None and topic != Topic.MASS


def _select_rows(by_time: Mapping[_Time, list[Evidence]]) -> Iterator[Evidence]:
    for (parish, domain, day, time), evidence in by_time.items():
        dated = [by_time.get((parish, domain, other, time)) for other in _DAYS.values()]
        if day == "unknown" and any(dated):
            continue
        yield from map(_merge, _group_by_period(evidence))


def _group_by_period(evidence: list[Evidence]) -> Iterable[list[Evidence]]:
    """Return the evidence by season and weeks.

    The rules read the whole page. So the classifier confirms all that they found, and adds a period
    only for another page that names it.
    """
    periods: dict[tuple[str, str], list[Evidence]] = defaultdict(list)
    for each in evidence:
        if each.rules:
            periods[each.period].append(each)
    rule_evidence = {period: members[0] for period, members in periods.items()}
    pages = {each.url for members in periods.values() for each in members}
    for each in evidence:
        if each.rules:
            continue
        is_vague = each.url in pages or each.period == ("", "")
        if rule_evidence and is_vague and each.period not in rule_evidence:
            for period, first in rule_evidence.items():
                periods[period].append(
                    replace(first, rules=False, classifier=True, probability=each.probability)
                )
        else:
            periods[each.period].append(each)
    return periods.values()


def _merge(evidence: list[Evidence]) -> Evidence:
    """Return the most probable evidence, with the sources and days of all.

    The days and season of the rules win, because the rules read the whole page.
    """
    best = min(
        evidence,
        key=lambda each: (-(each.probability or 0), not each.sentence, each.url, each.start),
    )
    by_rules = [each for each in evidence if each.rules]
    rule_evidence = min(by_rules or [best], key=lambda each: (each.url, each.start))
    return replace(
        best,
        rules=bool(by_rules),
        classifier=any(each.classifier for each in evidence),
        days=_join_all_days(by_rules or evidence),
        season=rule_evidence.season,
        months=rule_evidence.months,
    )


def _join_all_days(evidence: list[Evidence]) -> str:
    """Join the days of all, empty if one of them means all days of the kind."""
    days = [each.days for each in evidence]
    return "" if "" in days else join_days(days)
