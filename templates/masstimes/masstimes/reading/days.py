"""The days and the season in a piece of text."""

import re
from dataclasses import dataclass
from typing import Literal

Day = Literal["sunday", "weekday", "holiday", "unknown"]

WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_COLUMNS = (*WEEK, "weekday", "holiday", "sunday")
#: Patterns of the days of the week in folded texts.
DAY_NAMES = (
    r"poniedzial\w*|\bponiedz\b|\bpon\b|\bpn\b", r"wtor\w*|\bwt\b", r"\bsrod[aeyu]\b|\bsr\b",
    r"czwart(?:ek|ki|ku|kow|kiem)\b|\bczwart\b|\bczw\b|\bcz\b",
    r"piat(?:ek|ki|ku|kow|kiem|kami)?\b|\bpt\b",
    r"sobot\w*|\bsob\b|\bsb\b", r"niedziel(?!n)\w*|\bndz?\b|\bniedz\b",
)  # fmt: skip
#: Words for feasts. "Msza święta" is none.
_FEAST = (
    r"(?:(?<!msza )(?<!msze )(?<!mszy )(?<!godzina )(?<!spowiedz )\bswiet(?:a|o|ach)"
    r"|uroczystos\w+|\bdni\w*\s+swiateczn\w+)(?:\s+i\s+(?:swieta|swietach|uroczystos\w+))?"
)
#: A word beside a feast that joins no other days.
_QUALITY = r"(?:\s+(?!i\b|a\b|lub\b|oraz\b|w\b|we\b|dni\b)\w+)?"
_WORKDAY = r"(?:robocz|powsz|zwykl|prac(?:y|uj))\w*"
_WORKDAYS = rf"(?:dni\w*|dzien|dniu)\s+{_WORKDAY}|tyg(?:odniu)?\b|(?:ciagu|srodku)\s+tygodnia"
#: Words that say when a feast is a working day, but not "będące dniami wolnymi od pracy".
_WHEN = r"(?:przypad|wypad|bedac|gdy|jesli|jezeli|kiedy|o\s+ile|ktore)\w*"
_UNTIL = r"(?:(?!woln)[^\d;:\t\n]){0,40}?"
_HOLIDAY = (
    rf"{_FEAST}{_QUALITY}\s+w\s+(?:{_WORKDAYS})"
    rf"|{_FEAST}{_QUALITY}[\s,(–-]+{_WHEN}{_UNTIL}\b(?:{_WORKDAY}|{_WORKDAYS})"
    rf"|{_FEAST}{_QUALITY}\s*\(\s*(?:w\s+)?(?:{_WORKDAYS}|{_WORKDAY})"
    rf"|{_FEAST}\s+(?:\w+\s+)?(?:zniesion|(?:nie|nie\s)(?:nakazan|obowiazkow|woln)|robocz|pracuj)\w*"
    rf"|zniesion\w+|{_FEAST}\s+nie\s?bedac\w+\s+dni\w*\s+woln\w+"
    r"|swiat\s+nie\s?bedac\w+\s+dni\w*\s+woln\w+"
)
_SUNDAY = (
    r"niedzieln\w+|swiateczn\w+|uroczystos\w+|\bswiet(?:a|ach)\b(?<!msze swieta)(?<!msza swieta)"
    r"(?<!mszy swieta)(?<!godzina swieta)(?<!spowiedz swieta)(?<!komunia swieta)|\bdni\s+sw\b"
)
_WEEKDAY = (
    r"powszedni\w*|\bpowsz(?:ed)?\b|\bd(?:ni)?\.?\s?pow\b|\bpow(?=\.?\s*(?:$|[:\d]))|robocz\w*"
    r"|\bdni\w*\s+pracy|w\s+tyg(?:odniu)?\b|ciagu\s+tygodnia|codz(?:ien\w*|\b)|\bco\s+dzien\b"
    r"|\btydzien(?=\W*(?:$|[:\d]))|(?:caly|przez)\s+tydzien|kazdego\s+dnia"
    r"|(?:porzadek|dzien|dni)\s+zwykl\w+|zwykl\w+\s+dz?(?:ien|ni)"
)
_DAY = re.compile(
    rf"(?P<holiday>{_HOLIDAY})|(?P<weekday>{_WEEKDAY})|"
    + "|".join(f"(?P<{name}>{pattern})" for name, pattern in zip(WEEK, DAY_NAMES, strict=True))
    + rf"|(?P<sunday>{_SUNDAY})"
)
_EACH_DAY = re.compile(r"\bcodziennie\b|\bcodz\b|\bco\s+dzien\b|\bkazdego\s+dnia\b")
#: A label of days in unknown words, as in "Dni nauki:".
_OTHER_DAYS = re.compile(
    r"(?<!\bte )(?<!\bten )(?<!\btym )(?<!\btych )(?<!wszystkie )\b(?:dni|dzien|dniach|tydzien)\b"
    r"[^\d,;:(]{0,40}:\W*$"
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
    rf"|(?<=\(){_ROMAN}\s*[-–—]\s*{_ROMAN}(?=\)|:?\s+\d|:?\s*$)|{_DATES}"
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
    """The kind of days, the single days as ``mon-fri`` or ``wed``, and the weeks of the month."""

    day: Day = "unknown"
    names: str = ""
    weeks: str = ""


UNKNOWN = Days()
DAILY = Days("weekday", "mon-sun")


def find_days(text: str) -> Days:
    """Return the days that a folded text names together, without those after ``oprócz``."""
    names, excluded = _match_days(text)
    if names == ["weekday"] and not excluded and _EACH_DAY.search(text):
        return DAILY
    return _classify_days(names, excluded)


def names_other_days(text: str) -> bool:
    """Return whether a folded text without known days is a label of days, as in ``Dni nauki:``.

    Labels of places and purposes, such as ``Kaplica:``, are none. They keep the days above.
    """
    return _OTHER_DAYS.search(text[-100:]) is not None and _SEASON.search(text[-100:]) is None


def except_days(days: Days, text: str) -> Days:
    """Return ``days`` without those that a folded text names after ``oprócz``."""
    names_in_text, excluded = _match_days(text)
    if names_in_text or not excluded or days.day != "weekday":
        return days
    names = (_parse_days(days.names) or set(WEEK[:6])) - {"sun"}
    return Days("weekday", _format_days([day for day in WEEK if day in names - excluded]))


def _match_days(text: str) -> tuple[list[str], set[str]]:
    """Return the days that a folded text names, and those that it excludes."""
    names: list[str] = []
    excluded: set[str] = set()
    last: re.Match[str] | None = None
    last_excluded: re.Match[str] | None = None
    for each in _DAY.finditer(text):
        name = str(each.lastgroup)
        is_next = last_excluded is not None and _AND.match(text[last_excluded.end() : each.start()])
        if is_next or _WITHOUT.search(text[max(0, each.start() - 40) : each.start()]):
            excluded.add(name)
            last_excluded = each
            continue
        span = last is not None and _RANGE.match(text[last.end() : each.start()])
        if span and names[-1] in WEEK and name in WEEK[WEEK.index(names[-1]) :]:
            names.extend(WEEK[WEEK.index(names[-1]) + 1 : WEEK.index(name)])
        names.append(name)
        last = each
    return names, excluded


def _classify_days(names: list[str], excluded_days: set[str]) -> Days:
    if not names:
        return UNKNOWN
    days_of_week = [day for day in WEEK if day in names and day not in excluded_days]
    if "holiday" in names and "sun" not in names:
        return Days("holiday")
    if "weekday" in names and not (names[0] == "sun" and names.index("weekday") > 0):
        if not days_of_week and excluded_days:
            days_of_week = [day for day in WEEK[:6] if day not in excluded_days]
        return Days("weekday", _format_days([day for day in days_of_week if day != "sun"]))
    if days_of_week and days_of_week != ["sun"]:
        return Days("weekday", _format_days([day for day in days_of_week if day != "sun"]))
    return Days("sunday")


def join_days(texts: list[str]) -> str:
    """Return all days of texts such as ``mon-fri`` and ``sat``."""
    days = _parse_days(" ".join(texts))
    return _format_days([day for day in WEEK if day in days])


def _parse_days(names: str) -> set[str]:
    """Return the single days of a text such as ``mon-fri sun``."""
    days: set[str] = set()
    for part in names.split():
        first, _, last = part.partition("-")
        days.update(WEEK[WEEK.index(first) : WEEK.index(last or first) + 1])
    return days


def _format_days(days: list[str]) -> str:
    """Return the days as a text, and consecutive days as a span."""
    numbers = [WEEK.index(day) for day in days]
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{days[0]}-{days[-1]}"
    return " ".join(days)


def find_day_columns(text: str) -> tuple[Days, ...]:
    """Return the days of the columns of a folded table header, none for one kind alone."""
    names = [str(each.lastgroup) for each in _DAY.finditer(text)]
    days_by_column = [find_days(each[0]) for each in _DAY.finditer(text)]
    if len(names) > 2 and sorted(set(names), key=_COLUMNS.index) == names and "sun" in names:
        return tuple(days_by_column)
    columns = tuple(days for days in dict.fromkeys(days_by_column) if days != UNKNOWN)
    kinds = {days.day for days in columns}
    return columns if {"sunday", "weekday"} <= kinds and len(columns) == len(kinds) else ()


def names_when_at_end(text: str) -> bool:
    """Return whether a folded text ends with a day or a season."""
    ends = [each.end() for pattern in (_DAY, _SEASON) for each in pattern.finditer(text)]
    return bool(ends) and not text[max(ends) :].strip(" .:\xa0\t")


def is_in_dates(text: str, place: int) -> bool:
    """Return whether a position is in a span of dates such as ``15.06 - 31.08``."""
    return any(each.start() <= place < each.end() for each in re.finditer(_DATES, text))


def find_season_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each word for a season in a folded text."""
    return [each.span() for each in _SEASON.finditer(text)]


def find_season(text: str, original: str) -> str:
    """Return the season in a folded text, in the words of the page (``original``)."""
    season = _SEASON.search(text)
    if season is None:
        return ""
    edges = [edge.span() for edge in _EDGE.finditer(text)]
    edges_before = edges + [colon.span() for colon in _COLON.finditer(text, 0, season.start())]
    start = max((last for _, last in edges_before if last <= season.start()), default=0)
    end = next((first for first, _ in edges if first >= season.end()), len(text))
    if months := _MONTHS_IN_BRACKETS.match(text, end):
        end = months.end()
    words = " ".join(original[start:end].split()).strip(" .,:-–—*#/")
    words = re.sub(r"(?:\s+(?:o|od|godz\w*))+$", "", words)
    return words if len(words) <= 80 else original[season.start() : season.end()]


def get_months(season: str) -> str:
    """Return the months of a season, such as ``7-8``, or an empty text if it names none."""
    from masstimes.reading.words import fold_in_place  # noqa: PLC0415 - words know no days

    text = fold_in_place(season)
    if numerals := re.search(rf"(?:^|\()\s*({_ROMAN})\s*[-–—]\s*({_ROMAN})\s*(?:$|\))", text):
        return _format_months(
            sorted(_month_range(*(_ROMANS.index(number) + 1 for number in numerals.groups())))
        )
    if "rok" in text and "szkoln" in text:
        return "1-6 9-12"
    matches = [
        (each.start(), each.end(), number)
        for number, stem in enumerate(_MONTHS, 1)
        for each in re.finditer(rf"\b{stem}\w*|\b\d\d?\.0?{number}\b\.?", text)
    ]
    months = {7, 8} if "wakac" in text else set()
    last = None
    for start, end, number in sorted(matches):
        months.add(number)
        if last and _TO_MONTH.fullmatch(text, last[0], start):
            months |= _month_range(last[1], number)
        last = end, number
    if months and re.search(r"oprocz|\bpoza\b|wyjatk|\bnie\b|\bbez\b|\bbrak\b|procz", text):
        months = set(range(1, 13)) - months
    return _format_months(sorted(months))


def _month_range(first: int, last: int) -> set[int]:
    """Return the months from ``first`` to ``last``, also over the end of the year."""
    return {(first - 1 + step) % 12 + 1 for step in range((last - first) % 12 + 1)}


def _format_months(months: list[int]) -> str:
    spans: list[list[int]] = []
    for month in months:
        if spans and spans[-1][-1] == month - 1:
            spans[-1].append(month)
        else:
            spans.append([month])
    return " ".join(str(span[0]) if len(span) == 1 else f"{span[0]}-{span[-1]}" for span in spans)
