"""Footnotes of hours, as in ``12.00*`` and, in a line below, ``* oprócz wakacji``."""

import re
from collections.abc import Mapping

from masstimes.hours import find_hour_spans
from masstimes.reading.words import fold_in_place

_SIGN = r"\*{1,3}|[¹²³⁴⁵⁶⁷⁸⁹]"
#: The sign after an hour.
_REFERENCE = re.compile(rf"\s?\(?(?P<sign>{_SIGN})(?![*⁰-⁹¹²³])\)?")
#: The sign at the beginning of a footnote. A raised number may be an ordinary one there.
_BEGINNING = re.compile(rf"\s*\(?(?P<sign>{_SIGN}|[1-9](?=\)))\)?[\s:=–—-]*(?=[^\W\d_])")
_RAISED = str.maketrans("123456789", "¹²³⁴⁵⁶⁷⁸⁹")


def find_footnotes(text: str) -> dict[str, str]:
    """Return the footnotes of a text by their signs.

    A footnote is a line without hours. An hour of the text refers to it.
    """
    signs = {
        reference["sign"]
        for _, end in find_hour_spans(text)
        if (reference := _REFERENCE.match(text, end)) is not None
    }
    notes: dict[str, str] = {}
    if not signs:
        return notes
    for line in text.split("\n"):
        beginning = _BEGINNING.match(line)
        if beginning is None or any(find_hour_spans(line)):
            continue
        sign = beginning["sign"].translate(_RAISED)
        if sign in signs:
            notes.setdefault(sign, line[beginning.end() :])
    return notes


def is_footnote(line: str, notes: Mapping[str, str]) -> bool:
    """Return whether a line is one of these footnotes."""
    beginning = _BEGINNING.match(line)
    return (
        beginning is not None
        and notes.get(beginning["sign"].translate(_RAISED)) == line[beginning.end() :]
    )


def find_footnote(line: str, end: int, notes: Mapping[str, str]) -> tuple[str, str]:
    """Return the footnote of an hour, folded and as it is, or two empty texts.

    Args:
        line: The line of the hour.
        end: The end of the hour in the line.
        notes: The footnotes of the text.
    """
    reference = _REFERENCE.match(line, end)
    note = notes.get(reference["sign"], "") if reference is not None else ""
    return fold_in_place(note), note
