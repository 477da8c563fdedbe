"""The weeks of a month on which a mass is, as in *pierwszy piątek miesiąca*."""

import re

from masstimes.hours import find_hour_spans
from masstimes.reading.days import DAY_NAMES, UNKNOWN, find_days
from masstimes.reading.words import fold_in_place

#: The number of lines above an hour that may name its day.
_ABOVE = 6
#: The number of characters on each side of an hour that are read, so that long lines cost little.
_AROUND = 500
_WORDS = {"pierwsz": "1", "drug": "2", "trzeci": "3", "czwart": "4", "ostatni": "last"}
_NUMERALS = {"i": "1", "ii": "2", "iii": "3", "iv": "4"}
_WORD = (
    r"\b(?:pierwsz(?:y|a|e|ego|ej|ych|ym)|drug(?:i|a|ie|iego|iej|ich|im)"
    r"|trzeci(?:a|ego|ej|e|ch|m)?|czwart(?:y|a|e|ego|ej|ych|ym)|ostatni(?:a|ego|ej|e|ch|m)?)\b"
)
_NUMERAL = r"\b(?:iv|i{1,3}|[1-4])(?:-?(?:sz[aey]|g[aio]|ci[aei]?|t[aey]))?\b(?:\\?\.)?"
_DAY = "|".join(DAY_NAMES)
_MORE = rf"(?:\s*(?:,|\bi\b|\boraz\b)\s*(?:{_DAY})\.?)*"
_OF_MONTH = r"\s*(?:kazdego\s+)?(?:mies\w*|m-ca)"


def _ordinals(number: str) -> str:
    return rf"(?P<weeks>{number}(?:\s*(?:,|\bi\b|\boraz\b)\s*{number})*)\s*(?:{_DAY})\.?"


#: The letter "i" needs *miesiąca*, because it also means "and". Digits of a date are no numerals.
_WEEKS = (
    re.compile(rf"{_ordinals(_WORD)}(?:{_MORE}{_OF_MONTH})?"),
    re.compile(rf"{_ordinals(_NUMERAL)}{_MORE}{_OF_MONTH}"),
    re.compile(rf"(?<!\d[.:/-])(?<!\d[.:/-]\s)(?!i\b){_ordinals(_NUMERAL)}(?:{_MORE}{_OF_MONTH})?"),
)
#: A capital "I" before a day, with the word or sign before it.
_CAPITAL = re.compile(
    r"(?P<before>[^\W\d_]+\.?|\d|[^\w\s]|^)\s*\bI(?=(?:\.|-[a-z]{1,3}\b)?"
    r"(?:\s*(?:,|\bi\b|\boraz\b)\s*[IV]{1,3}\b\.?)*\s*(?P<day>[^\W\d_]+))"
)
#: Words before a numeral, even in a text of capitals alone.
_BEFORE_NUMERAL = re.compile(r"w|we|kazd\w+|i|oraz|takze|tylko")
_NUMBER = re.compile(r"(?:^|(?:,|\bi\b|\boraz\b)\s*)(iv|i{1,3}|[1-4])\b")
#: Words before ordinals that name no week of the month: exceptions, and *co druga niedziela*.
_NOT_BEFORE = re.compile(r"(?:oprocz|\bprocz|\bpoza|wyjatkiem|wyjawszy)\s+(?:\w+\s+)?$|\bco\s+$")
#: Sundays of a season of the church, such as *pierwsza niedziela Adwentu*.
_OF_SEASON = re.compile(r"\s*(?:adwent|wielki|wielkanoc|zwykl|po\s)")
#: Words after an hour that belong to it.
_NOTE = re.compile(r"[.,]?\s*\([^()\n]{0,120}\)|\s*[-–—]\s*[^,;.(\d]*")
_NEXT = re.compile(r"[,;|(]|\.\s")


def find_weeks(text: str, start: int) -> str:
    """Return the weeks of the month of the hour at ``start``, as ``1``, ``2 4`` or ``last``.

    The text is empty if the mass is on every week.
    """
    first = max(0, start - _AROUND)
    begin = max(text.rfind("\n", first, start) + 1, first)
    line = text[begin : start + _AROUND].split("\n", 1)[0]
    labels, note = _words_beside(_with_numerals(line), list(find_hour_spans(line)), start - begin)
    if (weeks := _parse_weeks(note)) is not None:
        return weeks
    for label in labels:
        if (weeks := _parse_weeks(label)) is not None:
            return weeks
    for above in reversed(text[first:begin].split("\n")[:-1][-_ABOVE:]):
        if any(find_hour_spans(above)):
            return ""
        if (weeks := _parse_weeks(_with_numerals(above))) is not None:
            return weeks
    return ""


def _with_numerals(text: str) -> str:
    """Return a folded text with ``1`` for the Roman numeral in *I piątek*, at equal positions."""
    return fold_in_place(_CAPITAL.sub(_as_numeral, text))


def _as_numeral(match: re.Match[str]) -> str:
    """Return a capital "I" as ``1``, or unchanged where it means "and"."""
    before, day = fold_in_place(match["before"]), match["day"]
    is_word = before[:1].isalpha()
    if (is_word and find_days(before) != UNKNOWN) or re.match(_DAY, fold_in_place(day)) is None:
        return match[0]
    if day.isupper() and (before.isdigit() or (is_word and not _BEFORE_NUMERAL.fullmatch(before))):
        return match[0]
    return f"{match[0][:-1]}1"


def _words_beside(line: str, spans: list[tuple[int, int]], start: int) -> tuple[list[str], str]:
    """Return the words before an hour, the nearest first, and the note behind it."""
    labels: list[str] = []
    note, last = "", 0
    for number, (begin, end) in enumerate(spans):
        if begin > start:
            break
        labels.insert(0, line[last:begin])
        following = spans[number + 1][0] if number + 1 < len(spans) else len(line)
        is_hour_first = not re.search(r"[^\W\d_]{3}", line[: spans[0][0]])
        note = _note(line[end:following], is_hour_first=is_hour_first)
        last = end + len(note)
    return labels, note


def _note(gap: str, *, is_hour_first: bool) -> str:
    if match := _NOTE.match(gap):
        return match[0]
    if not is_hour_first:
        return ""
    cut = _NEXT.search(gap)
    return gap[: cut.start()] if cut else gap


def _parse_weeks(text: str) -> str | None:
    """Return the weeks that a folded text names, or None if it names no day.

    The text is empty if other days stand beside the days of these weeks.
    """
    weeks: list[str] = []
    rest = text
    for pattern in _WEEKS:
        for each in reversed([*pattern.finditer(rest)]):
            if _NOT_BEFORE.search(rest[: each.start()]) or _OF_SEASON.match(rest, each.end()):
                continue
            weeks += _numbers(each["weeks"])
            rest = f"{rest[: each.start()]} {rest[each.end() :]}"
    if find_days(rest) != UNKNOWN:
        return ""
    return " ".join(sorted(set(weeks))) if weeks else None


def _numbers(ordinals: str) -> list[str]:
    """Return the numbers of ordinals such as ``druga i czwarta``."""
    numbers = [number for stem, number in _WORDS.items() if re.search(rf"\b{stem}", ordinals)]
    return numbers or [_NUMERALS.get(each, each) for each in _NUMBER.findall(ordinals)]
