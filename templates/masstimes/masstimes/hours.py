"""Search for possible mass times. Nearly none is missed, and many are other times."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from masstimes.folding import fold
from sluice.text.visible_text import quoted

_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
#: Notations of minutes: ``:30``, ``.oo``, ``³⁰``, ``oo``, `` oo``, ``°°``, ``,30``, ``-30``.
_MINUTES = (
    rf"[:.]\ ?(?:oo|[0-5][\do])|[:.,]?\ ?[{_RAISED[:6]}][{_RAISED}]"
    r"|[:.]?[\ \xa0]?(?:oo\b|[°ºᵒ]{2})"
    r"|,(?:00|15|30|45)|[-\ \xa0](?:00|15|30|45)(?!\ ?\d)|[–‒](?:00|30|45)"
)
_HOUR = r"(?:0?[6-9]|1\d|2[0-2])"
#: Units, with or without minutes: ``8h``, ``12h30``, ``12 h 30``, ``8 Uhr``. Not ``8h/day``.
_UNIT = (
    r"(?:h[0-5]\d|[\ \xa0]?(?:h|uhr)(?:[\ \xa0](?:00|15|30|45)(?![\ \xa0]?(?:h|uhr)))?)"
    r"(?![^\W_])(?!\s?/)"
)
#: An hour before 6 needs minutes that are no month, so that ``5.12`` is a date.
_EARLY = rf"0?5(?::[0-5]\d|h[0-5]\d(?![^\W_])|\.(?:00|15|30|45)|[{_RAISED[:6]}][{_RAISED}])"
_BARE = r"(?:[6-9]|1\d|2[0-2])"
#: Stems of the words for the hours from 6 on. A word ends in ``a`` or ``ej``.
_STEMS = (
    "szóst",
    "siódm",
    "ósm",
    "dziewiąt",
    "dziesiąt",
    "jedenast",
    "dwunast",
    "trzynast",
    "czternast",
    "piętnast",
    "szesnast",
    "siedemnast",
    "osiemnast",
    "dziewiętnast",
    "dwudziest",
)
_FOLDED_STEMS = [fold(stem) for stem in _STEMS]
#: The words, with or without diacritics.
_WORD = re.sub(
    "[óąę]", lambda match: f"[{match[0]}{fold(match[0])}]", f"(?:{'|'.join(_STEMS)})(?:ej|a)"
)
#: Endings of an hour as a number: ``8-ma``, ``16-tej``.
_ENDING = r"(?:t?ej|ta|m(?:a|ej)|sz(?:a|ej)|(?:na)?st(?:a|ej))"
#: The end of an hour. A date or a longer number would continue.
_END = r"(?!\d)(?![.:]\d)"
_CANDIDATE = re.compile(
    rf"(?<!\d)(?<!\d[.:])(?<![^\W\d_]-)(?P<full>{_HOUR}(?:{_MINUTES}|{_UNIT})|{_EARLY}){_END}"
    rf"|(?:(?<![^,;(\s])|(?<=godz\.))(?P<bare>{_BARE})(?:(?![^,);\s])|(?=-{_ENDING}\b))"
    rf"|(?:\bo|godz\.|godzin\w{{0,2}}|\bi|,|oraz)\s(?P<stop>{_BARE})(?=\.(?:\s|$))"
    rf"|(?:\bo|godz\.|godzini?e?|\bi|,|oraz)\s+(?P<word>{_WORD})\b",
    re.IGNORECASE,
)
_DIGITS = str.maketrans(f"{_RAISED}oO°ºᵒ", "0123456789" + "0" * 5)
_HOUR_FORMS = re.compile(
    rf"({_HOUR})(?:{_MINUTES}|{_UNIT})|(?={_EARLY}$)(0?5).*|({_BARE}|0[6-9])", re.IGNORECASE
)

#: The length of a context to each side in characters.
AROUND = 150


@dataclass(frozen=True, slots=True)
class Candidate:
    """A time in its context.

    Attributes:
        hour: The time as the page writes it.
        context: The text around it.
        start: The start of the hour in the context.
        end: The end of the hour in the context.
    """

    hour: str
    context: str
    start: int
    end: int

    @property
    def clock(self) -> str:
        """Return the time as ``07:00``."""
        return clock(self.hour)


def find_hour_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each candidate, in the order of the text."""
    for match in _CANDIDATE.finditer(text):
        start, end = match.span(match.lastgroup or 0)
        if not (text[start - 1 : start] == "(" and text[end : end + 1] == ")"):
            yield start, end


def find_candidates(text: str, *, around: int = AROUND) -> Iterator[Candidate]:
    """Yield the candidates of a text with ``around`` characters of context to each side."""
    for start, end in find_hour_spans(text):
        begin = max(0, start - around)
        yield Candidate(text[start:end], text[begin : end + around], start - begin, end - begin)


def is_explicit(hour: str) -> bool:
    """Return whether an hour has minutes or a unit, as ``7:00`` and ``7h``, but not ``7``."""
    return (len(hour) > 2 or has_unit(hour)) and not hour.isalpha()


def has_unit(hour: str) -> bool:
    """Return whether an hour has a unit, as ``7h``, ``7h30`` and ``7 Uhr``."""
    return "h" in hour.lower() and not hour.isalpha()


def clock(hour: str) -> str:
    """Return ``07:00`` for ``7``, ``7.oo``, ``7⁰⁰``, ``siódmej`` and the like.

    Raises:
        ValueError: It is no hour from 5:00 to 22:59.
    """
    if hour.isalpha():
        stem = fold(hour).removesuffix("ej").removesuffix("a")
        if stem in _FOLDED_STEMS:
            return f"{_FOLDED_STEMS.index(stem) + 6:02}:00"
    elif (match := _HOUR_FORMS.fullmatch(hour)) is not None:
        full = match[1] or match[2] or match[3]
        minutes = re.sub(r"\D", "", hour[len(full) :].translate(_DIGITS))
        return f"{int(full):02}:{minutes or '00'}"
    raise ValueError(f"{quoted(hour)} is not an hour from 5:00 to 22:59")
