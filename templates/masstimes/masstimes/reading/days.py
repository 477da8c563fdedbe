"""The days and the season in a piece of text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Day = Literal["sunday", "weekday", "holiday", "unknown"]

WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_COLUMNS = (*WEEK, "weekday", "holiday", "sunday")
#: Patterns of the days of the week in folded texts.
DAY_NAMES = (
    r"poniedzial\w*|\bpon\b|\bpn\b", r"wtor\w*|\bwt\b", r"\bsrod[aeyu]\b|\bsr\b",
    r"czwart(?:ek|ki|ku|kow|kiem)\b|\bczw\b|\bcz\b", r"piat(?:ek|ki|ku|kow|kiem|kami)\b|\bpt\b",
    r"sobot\w*|\bsob\b|\bsb\b", r"niedziel(?!n)\w*|\bndz?\b|\bniedz\b",
)  # fmt: skip
_HOLIDAY = (
    r"swieta\s+(?:\w+\s+)?(?:zniesion\w+|nienakazan\w+|w\s+dni\s+(?:robocz|powszedni|prac)\w*)"
    r"|zniesion\w+|swieta\s+przypadajac\w+\s+w\s+dni\s+\w+"
)
_SUNDAY = (
    r"niedzieln\w+|swiateczn\w+|uroczystos\w+|\bswiet(?:a|ach)\b(?<!msze swieta)(?<!msza swieta)"
    r"(?<!mszy swieta)|\bdni\s+sw\b"
)
_WEEKDAY = (
    r"powszedni\w*|robocz\w*|w\s+tyg(?:odniu)?\b|ciagu\s+tygodnia|codzien\w*"
    r"|(?:porzadek|dzien|dni)\s+zwykl\w+|zwykl\w+\s+dz?(?:ien|ni)"
)
_DAY = re.compile(
    rf"(?P<holiday>{_HOLIDAY})|(?P<weekday>{_WEEKDAY})|"
    + "|".join(f"(?P<{name}>{pattern})" for name, pattern in zip(WEEK, DAY_NAMES, strict=True))
    + rf"|(?P<sunday>{_SUNDAY})"
)
_WITHOUT = re.compile(r"(?:oprocz|\bprocz|\bpoza|\bza?\s+wyjatkiem|wyjawszy)\s+(?:\w+\s+)?$")
_AND = re.compile(r"^\w*\s*(?:,|\bi\b|\boraz\b|\blub\b)\s*(?:w\s+)?$")
_RANGE = re.compile(r"^[.\s]*(?:-|–|—|\bdo\b)[\s]*$")

_MONTHS = (
    "stycz", "lut", "mar[cz]", "kwie", "maj", "czerw(?:c|iec)", "lip", "sierp", "wrze", "pazdz",
    "listop", "grud",
)  # fmt: skip
#: A month in Roman numerals.
_ROMAN = r"(?:viii|vii|vi|v|iv|ix|iii|ii|i|xii|xi|x)"
_ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_MONTH = (
    r"(?:styczn(?:ia|iu|en)|lut(?:ego|ym|y)|mar(?:ca|cu|zec)|kwie(?:tnia|tniu|cien)|maj(?:a|u)?"
    r"|czerw(?:ca|cu|iec)|lip(?:ca|cu|iec)|sierp(?:nia|niu|ien)|wrze(?:snia|sniu|sien)"
    r"|pazdziernik\w*|listopad\w*|grud(?:nia|niu|zien))"
)
_DATE = r"(?<![\d.])(?:[12]?\d|3[01])\.(?:0?[1-9]|1[0-2])\.?"
_TO = r"\s*(?:\bdo\b|[-–—])\s*"
#: A span of dates that is no span of hours, as its first or last day is no hour.
_DATES = rf"(?=0?1\.\d|\d[\d.]{{1,5}}{_TO}(?:2[3-9]|3[01])\.){_DATE}{_TO}{_DATE}(?!\d)"
_SEASON = re.compile(
    rf"\b(?:{_MONTH}|wakac\w+|lato|lat(?:em|a)\b|letni\w*|zim(?:[aey]|ie)\b"
    r"|zimow\w+|adwen\w+|wielki\w*\s+po(?:st|sc)\w*|wielkanoc\w*|ferie|feri[io]\w*|rok\w*\s+szkoln\w+)"
    rf"|(?<=\(){_ROMAN}\s*[-–—]\s*{_ROMAN}(?=\))|{_DATES}"
)
#: The number and the words before a month, which do not end a season.
_BEFORE_MONTH = rf"(?!\s?(?:od\s+)?(?:\d\d?\.?\s*)?{_MONTH})"
#: The text between which the words of a season are.
_EDGE = re.compile(
    rf"[();|•\n]|,\s(?=[a-z]*\s*\d)|:\s{_BEFORE_MONTH}|\s[-–—]\s{_BEFORE_MONTH}"
    rf"|(?<!\d)\d[\d:.⁰-⁹¹²³]*+{_BEFORE_MONTH}"
)
#: The text between the first and the last month of a span.
_TO_MONTH = re.compile(r"\s*(?:\bdo\b|[-–—])[^,;]*")
_COLON = re.compile(r":\s")
_MONTHS_IN_BRACKETS = re.compile(rf"\((?:[^()]*\b{_MONTH}|{_ROMAN}\s*[-–—]\s*{_ROMAN}\))[^()]*\)?")


@dataclass(frozen=True, slots=True)
class Days:
    """The kind of days, and the single days as ``mon-fri`` or ``wed``."""

    day: Day = "unknown"
    names: str = ""


UNKNOWN = Days()
DAILY = Days("weekday", "mon-sun")


def days_in(text: str) -> Days:
    """Return the days that a folded text names together, without those after ``oprócz``."""
    found, without = _named(text)
    if found == ["weekday"] and not without and re.search(r"\bcodziennie\b", text):
        return DAILY
    return _days(found, without)


def except_days(days: Days, text: str) -> Days:
    """Return ``days`` without those that a folded text names after ``oprócz``."""
    found, without = _named(text)
    if found or not without or days.day != "weekday":
        return days
    names = (_split(days.names) or set(WEEK[:6])) - {"sun"}
    return Days("weekday", _joined([day for day in WEEK if day in names - without]))


def _named(text: str) -> tuple[list[str], set[str]]:
    """Return the days that a folded text names, and those that it excludes."""
    found: list[str] = []
    without: set[str] = set()
    last: re.Match[str] | None = None
    left_out: re.Match[str] | None = None
    for each in _DAY.finditer(text):
        name = str(each.lastgroup)
        is_next = left_out is not None and _AND.match(text[left_out.end() : each.start()])
        if is_next or _WITHOUT.search(text[max(0, each.start() - 40) : each.start()]):
            without.add(name)
            left_out = each
            continue
        span = last is not None and _RANGE.match(text[last.end() : each.start()])
        if span and found[-1] in WEEK and name in WEEK[WEEK.index(found[-1]) :]:
            found.extend(WEEK[WEEK.index(found[-1]) + 1 : WEEK.index(name)])
        found.append(name)
        last = each
    return found, without


def _days(found: list[str], without: set[str]) -> Days:
    if not found:
        return UNKNOWN
    named = [day for day in WEEK if day in found and day not in without]
    if "holiday" in found and "sun" not in found:
        return Days("holiday")
    if "weekday" in found and not (found[0] == "sun" and found.index("weekday") > 0):
        named = named or [day for day in WEEK[:6] if day not in without] * bool(without)
        return Days("weekday", _joined([day for day in named if day != "sun"]))
    if named and named != ["sun"]:
        return Days("weekday", _joined([day for day in named if day != "sun"]))
    return Days("sunday")


def joined_days(texts: list[str]) -> str:
    """Return all days of texts such as ``mon-fri`` and ``sat``."""
    named = _split(" ".join(texts))
    return _joined([day for day in WEEK if day in named])


def _split(names: str) -> set[str]:
    """Return the single days of a text such as ``mon-fri sun``."""
    named: set[str] = set()
    for part in names.split():
        first, _, last = part.partition("-")
        named.update(WEEK[WEEK.index(first) : WEEK.index(last or first) + 1])
    return named


def _joined(days: list[str]) -> str:
    """Return the days as a text, and consecutive days as a span."""
    numbers = [WEEK.index(day) for day in days]
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{days[0]}-{days[-1]}"
    return " ".join(days)


def columns_in(text: str) -> tuple[Days, ...]:
    """Return the days of the columns of a folded table header, none for one kind alone."""
    names = [str(each.lastgroup) for each in _DAY.finditer(text)]
    found = [days_in(each[0]) for each in _DAY.finditer(text)]
    if len(names) > 2 and sorted(set(names), key=_COLUMNS.index) == names and "sun" in names:
        return tuple(found)
    columns = tuple(days for days in dict.fromkeys(found) if days != UNKNOWN)
    kinds = {days.day for days in columns}
    return columns if {"sunday", "weekday"} <= kinds and len(columns) == len(kinds) else ()


def names_when_at_end(text: str) -> bool:
    """Return whether a folded text ends with a day or a season."""
    ends = [each.end() for pattern in (_DAY, _SEASON) for each in pattern.finditer(text)]
    return bool(ends) and not text[max(ends) :].strip(" .:\xa0\t")


def is_in_dates(text: str, place: int) -> bool:
    """Return whether a position is in a span of dates such as ``15.06 - 31.08``."""
    return any(each.start() <= place < each.end() for each in re.finditer(_DATES, text))


def season_in(text: str, shown: str) -> str:
    """Return the season in a folded text, in the words of the page (``shown``)."""
    found = _SEASON.search(text)
    if found is None:
        return ""
    edges = [edge.span() for edge in _EDGE.finditer(text)]
    edges_before = edges + [colon.span() for colon in _COLON.finditer(text, 0, found.start())]
    start = max((last for _, last in edges_before if last <= found.start()), default=0)
    end = next((first for first, _ in edges if first >= found.end()), len(text))
    if months := _MONTHS_IN_BRACKETS.match(text, end):
        end = months.end()
    words = " ".join(shown[start:end].split()).strip(" .,:-–—*#")
    words = re.sub(r"\s+(?:o|od|godz\w*)$", "", words)
    return words if len(words) <= 80 else shown[found.start() : found.end()]


def months_of(season: str) -> str:
    """Return the months of a season, such as ``7-8``, or an empty text if it names none."""
    from masstimes.reading.words import in_place  # noqa: PLC0415 - words know no days

    text = in_place(season)
    if roman := re.search(rf"(?:^|\()\s*({_ROMAN})\s*[-–—]\s*({_ROMAN})\s*(?:$|\))", text):
        return _spans(sorted(_span(*(_ROMANS.index(number) + 1 for number in roman.groups()))))
    if "rok" in text and "szkoln" in text:
        return "1-6 9-12"
    found = [
        (each.start(), each.end(), number)
        for number, stem in enumerate(_MONTHS, 1)
        for each in re.finditer(rf"\b{stem}\w*|\b\d\d?\.0?{number}\b\.?", text)
    ]
    months = {7, 8} if "wakac" in text else set()
    last = None
    for start, end, number in sorted(found):
        months.add(number)
        if last and _TO_MONTH.fullmatch(text, last[0], start):
            months |= _span(last[1], number)
        last = end, number
    if months and re.search(r"oprocz|\bpoza\b|wyjatk|\bnie\b|\bbez\b|\bbrak\b|procz", text):
        months = set(range(1, 13)) - months
    return _spans(sorted(months))


def _span(first: int, last: int) -> set[int]:
    """Return the months from ``first`` to ``last``, also over the end of the year."""
    return {(first - 1 + step) % 12 + 1 for step in range((last - first) % 12 + 1)}


def _spans(months: list[int]) -> str:
    spans: list[list[int]] = []
    for month in months:
        if spans and spans[-1][-1] == month - 1:
            spans[-1].append(month)
        else:
            spans.append([month])
    return " ".join(str(s[0]) if len(s) == 1 else f"{s[0]}-{s[-1]}" for s in spans)
