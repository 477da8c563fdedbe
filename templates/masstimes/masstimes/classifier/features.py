"""What a context with one marked hour is made of, as words: those of its line, how far away and on
which side they are, those of the heading above it, and how the hour is written.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from masstimes.folding import folded
from masstimes.hours import clock, has_minutes, hour_spans
from masstimes.reading.lines import reading_at

#: Stand for the marked hour, any other time, and the end of a line.
MARK, TIME, BREAK = "<hour>", "<time>", "<break>"
#: Letters of a word that are kept apart from its ending, which Polish changes.
_STEM = 5
#: Words to each side of which it counts on which.
_NEAR = 12
#: How often what an hour is for is counted.
_WEIGHT = 6

#: A context and the place of the hour in it.
Marked = tuple[str, int, int]

_TOKEN = re.compile(r"\d{1,2}[:.](?:\d\d|oo)(?!\d)|\d+(?:[-/]\d+)*|[^\W\d_]+|\n|[^\w\s]")
_TIME = re.compile(r"\d{1,2}[:.](?:\d\d|oo)")


def tokens(text: str) -> list[str]:
    """Words as ``folded``; digits are all 0, times all alike, and lines end once."""
    found: list[str] = []
    for token in _TOKEN.findall(folded(_with_plain_times(text))):
        if token.isspace():
            if found[-1:] != [BREAK]:
                found.append(BREAK)
        else:
            found.append(TIME if _TIME.fullmatch(token) else re.sub(r"\d", "0", token))
    return found


def _with_plain_times(text: str) -> str:
    """Return the text with all its times as ``7:00``, however the page writes them."""
    parts, last = [], 0
    for start, end in hour_spans(text):
        if has_minutes(text[start:end]):
            parts += [text[last:start], clock(text[start:end]).removeprefix("0")]
            last = end
    return "".join([*parts, text[last:]])


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Of a marked hour, as tokens: its line to both sides, below the nearest line with words where
    it has none itself; that nearest line above, the heading; and everything else.
    """

    before: list[str]
    after: list[str]
    heading: list[str]
    elsewhere: list[str]


def hour_of(marked: Marked) -> str:
    context, start, end = marked
    return context[start:end]


def surroundings(context: str, start: int, end: int) -> Surroundings:
    *above, before = _lines(tokens(context[:start]))
    after, *below = _lines(tokens(context[end:]))
    heading = next((line for line in reversed(above) if _speaks(line)), [])
    elsewhere = [word for line in (*above, *below) for word in line]
    if not _has_word([*before, *after]):
        before = [*heading, BREAK, *before]
    return Surroundings(before, after, heading, elsewhere)


def topic_of(marked: Marked) -> list[str]:
    """Return what the words near the hour say that it is for, as features of their own.

    It stands there several times, as the mean of many words would drown it.
    """
    context, start, _ = marked
    found = reading_at(context, start)
    topic = found.topic if found is not None and found.topic else "none"
    day = "no" if found is None or found.day == "unknown" else "a"
    return [f"@{topic}", f"@{topic} {day} day"] * _WEIGHT


def features_of(marked: Marked) -> list[str]:
    """Return the names of all features of a context but pairs, as often as they are there."""
    return [*words(surroundings(*marked), hour_of(marked)), *topic_of(marked)]


def words(around: Surroundings, hour: str) -> list[str]:
    """Names of features, as often as they are there. What stands elsewhere, where it says little of
    this hour, has names of its own.
    """
    found = [*around.before, MARK, *around.after, *_written(hour)]
    for side, near in (("<", around.before[::-1]), (">", around.after)):
        for distance, word in enumerate(near[:_NEAR], 1):
            found.append(f"{side}{min(distance, 4)}{_stem(word)}")
            found.append(f"{side}{_stem(word)}")
    found.extend(f"^{_stem(word)}" for word in around.heading)
    found.extend(f"~{_stem(word)}" for word in around.elsewhere)
    return found


def pairs(around: Surroundings, *, buckets: int) -> list[int]:
    """Numbers below ``buckets`` of two words of the line that follow each other, the hour among
    them; the same everywhere and always.
    """
    row = [_stem(word) for word in (*around.before, MARK, *around.after)]
    return [
        zlib.crc32(f"{first} {second}".encode(errors="replace")) % buckets
        for first, second in pairwise(row)
    ]


def _lines(row: Sequence[str]) -> list[list[str]]:
    """One at least."""
    lines: list[list[str]] = [[]]
    for word in row:
        if word == BREAK:
            lines.append([])
        else:
            lines[-1].append(word)
    return lines


def _has_word(line: Sequence[str]) -> bool:
    return any(word[0].isalpha() and len(word) > 1 for word in line)


def _speaks(line: Sequence[str]) -> bool:
    """With words, and without numbers."""
    return _has_word(line) and not any(word == TIME or "0" in word for word in line)


def _written(hour: str) -> Iterator[str]:
    """How, and which."""
    digits = re.sub(r"\d", "0", hour.lower())
    yield f"#{digits}"
    full, _, minutes = clock(hour).partition(":")
    yield f"#h{full}"
    yield f"#m{minutes if minutes in {'00', '15', '30', '45'} else 'x'}"


def _stem(word: str) -> str:
    return word if word.startswith("<") else word[:_STEM]
