"""What a context with one marked hour is made of, as words: those around it, how far away and on
which side they are, those of its line and of the heading above it, and how the hour is written."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise

from masstimes.folding import folded
from masstimes.hours import clock

#: Stand for the marked hour, any other time, and the end of a line.
MARK, TIME, BREAK = "<hour>", "<time>", "<break>"
#: Letters of a word that are kept apart from its ending, which Polish changes.
_STEM = 5
#: Words to each side whose distance counts.
_NEAR = 12

_TOKEN = re.compile(r"\d{1,2}[:.](?:\d\d|oo)(?!\d)|\d+(?:[-/]\d+)*|[^\W\d_]+|\n|[^\w\s]")
_TIME = re.compile(r"\d{1,2}[:.](?:\d\d|oo)")


def tokens(text: str) -> list[str]:
    """Words as ``folded``; digits are all 0, times all alike, and lines end once."""
    found: list[str] = []
    for token in _TOKEN.findall(folded(text)):
        if token.isspace():
            if found[-1:] != [BREAK]:
                found.append(BREAK)
        else:
            found.append(TIME if _TIME.fullmatch(token) else re.sub(r"\d", "0", token))
    return found


def words(context: str, start: int, end: int) -> list[str]:
    """Names of features, as often as they are there."""
    before, after = tokens(context[:start]), tokens(context[end:])
    found = [*before, MARK, *after, *_written(context[start:end])]
    for side, near in (("<", before[::-1]), (">", after)):
        found.extend(_placed(side, near))
    found.extend(f"^{_stem(word)}" for word in _heading(before))
    return found


def pairs(context: str, start: int, end: int, *, buckets: int) -> list[int]:
    """Numbers below ``buckets`` of two words that follow each other, the hour among them; the same
    everywhere and always."""
    row = [_stem(word) for word in tokens(context[:start])]
    row += [MARK, *(_stem(word) for word in tokens(context[end:]))]
    return [
        zlib.crc32(f"{first} {second}".encode(errors="replace")) % buckets
        for first, second in pairwise(row)
    ]


def _placed(side: str, near: Sequence[str]) -> Iterator[str]:
    """``near``: from the hour away."""
    on_line = True
    for distance, word in enumerate(near[:_NEAR], 1):
        on_line = on_line and word != BREAK
        yield f"{side}{min(distance, 4)}{_stem(word)}"
        if on_line:
            yield f"{side}={_stem(word)}"


def _heading(before: Sequence[str]) -> list[str]:
    """The words of the nearest line above that has no numbers."""
    line: list[str] = []
    for word in reversed(before[: _last(before, BREAK)]):
        if word != BREAK:
            line.append(word)
        elif line and not any(each == TIME or "0" in each for each in line):
            return line
        else:
            line = []
    return line if not any(each == TIME or "0" in each for each in line) else []


def _last(row: Sequence[str], word: str) -> int:
    """Its place from the left; 0 where it is not there."""
    return next((place for place in reversed(range(len(row))) if row[place] == word), 0)


def _written(hour: str) -> Iterator[str]:
    """How, and which."""
    digits = re.sub(r"\d", "0", hour.lower())
    yield f"#{digits}"
    full, _, minutes = clock(hour).partition(":")
    yield f"#h{full}"
    yield f"#m{minutes if minutes in {'00', '15', '30', '45'} else 'x'}"


def _stem(word: str) -> str:
    return word if word.startswith("<") else word[:_STEM]
