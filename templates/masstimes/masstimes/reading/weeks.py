"""The weeks of a month on which a mass is, as in *pierwszy piątek miesiąca*."""

import re
from dataclasses import replace

from masstimes.reading.days import DAY_NAMES, UNKNOWN, Days, find_days
from masstimes.reading.words import fold_in_place

#: The number of characters before an hour that are read, so that long lines cost little.
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
#: A capital "I" before a day, with the word or sign before it. Limits keep long lines cheap.
_CAPITAL = re.compile(
    r"(?P<before>(?<![^\W\d_])[^\W\d_]{1,40}\.?|\d|[^\w\s]|\t|^)[^\S\t]{0,9}\bI"
    r"(?=(?:\.|-[a-z]{1,3}\b)?(?:\s{0,9}(?:,|\bi\b|\boraz\b)\s{0,9}[IV]{1,3}\b\.?){0,3}"
    r"\s{0,9}(?P<day>[^\W\d_]{1,40}))"
)
#: Words before a numeral, even in a text of capitals alone.
_BEFORE_NUMERAL = re.compile(r"w|we|kazd\w+|i|oraz|takze|tylko")
_NUMBER = re.compile(r"(?:^|(?:,|\bi\b|\boraz\b)\s*)(iv|i{1,3}|[1-4])\b")
#: Words before ordinals that name no week of the month: exceptions, and *co druga niedziela*.
_NOT_BEFORE = re.compile(r"(?:oprocz|\bprocz|\bpoza|wyjatkiem|wyjawszy)\s+(?:\w+\s+)?$|\bco\s+$")
#: Sundays of a season of the church, such as *pierwsza niedziela Adwentu*.
_OF_SEASON = re.compile(r"\s*(?:adwent|wielki|wielkanoc|zwykl|po\s)")


def fold_with_numerals(line: str) -> str:
    """Return a folded line with ``1`` for the Roman numeral in *I piątek*, at equal positions.

    In folded text, a numeral is not different from *i*, which means "and".
    """
    return fold_in_place(_CAPITAL.sub(_as_numeral, line))


def find_days_and_weeks(text: str) -> Days:
    """Return the days that a folded text names together, with their weeks of the month."""
    days = find_days(text)
    return days if days == UNKNOWN else replace(days, weeks=_parse_weeks(text[-_AROUND:]))


def _as_numeral(match: re.Match[str]) -> str:
    """Return a capital "I" as ``1``, or unchanged where it means "and"."""
    before, day = fold_in_place(match["before"]), match["day"]
    is_word = before[:1].isalpha()
    if (is_word and find_days(before) != UNKNOWN) or re.match(_DAY, fold_in_place(day)) is None:
        return match[0]
    if day.isupper() and (before.isdigit() or (is_word and not _BEFORE_NUMERAL.fullmatch(before))):
        return match[0]
    return f"{match[0][:-1]}1"


def _parse_weeks(text: str) -> str:
    """Return the weeks that a folded text names, as ``1``, ``2 4`` or ``last``.

    The result is empty if other days stand beside the days of these weeks.
    """
    weeks: list[str] = []
    rest = text
    for pattern in _WEEKS:
        for each in reversed([*pattern.finditer(rest)]):
            if _NOT_BEFORE.search(rest[: each.start()]) or _OF_SEASON.match(rest, each.end()):
                continue
            weeks += _numbers(each["weeks"])
            rest = f"{rest[: each.start()]} {rest[each.end() :]}"
    return " ".join(sorted(set(weeks))) if find_days(rest) == UNKNOWN else ""


def _numbers(ordinals: str) -> list[str]:
    """Return the numbers of ordinals such as ``druga i czwarta``."""
    numbers = [number for stem, number in _WORDS.items() if re.search(rf"\b{stem}", ordinals)]
    return numbers or [_NUMERALS.get(each, each) for each in _NUMBER.findall(ordinals)]
