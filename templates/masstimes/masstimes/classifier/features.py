"""The features of a context with one marked hour.

They are the words of its line, with distance and side, the words of the heading above, and the
notation of the hour.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from masstimes.folding import folded
from masstimes.hours import clock, hour_spans, is_explicit
from masstimes.reading.lines import reading_at

#: Tokens for the marked hour, any other time, and the end of a line.
MARK, TIME, BREAK = "<hour>", "<time>", "<break>"
#: The letters of a word that are kept, without its ending, which Polish inflects.
_STEM = 5
#: The number of words on each side that have features for their side.
_NEAR = 12
#: How often the features of the topic are repeated.
_WEIGHT = 6

#: A context, with the start and end of the hour in it.
Marked = tuple[str, int, int]

_TOKEN = re.compile(r"\d{1,2}[:.](?:\d\d|oo)(?!\d)|\d+(?:[-/]\d+)*|[^\W\d_]+|\n|[^\w\s]")
_TIME = re.compile(r"\d{1,2}[:.](?:\d\d|oo)")


def tokens(text: str) -> list[str]:
    """Return the words of a text as ``folded``.

    Each digit becomes 0, all times become one token, and repeated line ends become one.
    """
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
        if is_explicit(text[start:end]):
            parts += [text[last:start], clock(text[start:end]).removeprefix("0")]
            last = end
    return "".join([*parts, text[last:]])


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The tokens around a marked hour.

    ``before`` and ``after`` are its own line to both sides. If that line has no words, ``before``
    begins with the heading. ``heading`` is the nearest line above that has words and no numbers.
    ``elsewhere`` is everything else.
    """

    before: list[str]
    after: list[str]
    heading: list[str]
    elsewhere: list[str]


def hour_of(marked: Marked) -> str:
    """Return the marked hour."""
    context, start, end = marked
    return context[start:end]


def surroundings(context: str, start: int, end: int) -> Surroundings:
    """Return the tokens around the hour between ``start`` and ``end``."""
    *above, before = _lines(tokens(context[:start]))
    after, *below = _lines(tokens(context[end:]))
    heading = next((line for line in reversed(above) if _speaks(line)), [])
    elsewhere = [word for line in (*above, *below) for word in line]
    if not _has_word([*before, *after]):
        before = [*heading, BREAK, *before]
    return Surroundings(before, after, heading, elsewhere)


def topic_of(marked: Marked) -> list[str]:
    """Return features for the purpose of the hour according to the words near it.

    They are repeated, because the mean of many words would hide one feature.
    """
    context, start, _ = marked
    found = reading_at(context, start)
    topic = found.topic if found is not None and found.topic else "none"
    day = "no" if found is None or found.day == "unknown" else "a"
    return [f"@{topic}", f"@{topic} {day} day"] * _WEIGHT


def features_of(marked: Marked) -> list[str]:
    """Return the names of all features of a context except pairs, with repetitions."""
    return [*words(surroundings(*marked), hour_of(marked)), *topic_of(marked)]


def words(around: Surroundings, hour: str) -> list[str]:
    """Return the names of features, with repetitions.

    Words from elsewhere have other names, because they say little about this hour.
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
    """Return stable numbers below ``buckets`` for pairs of neighbouring words of the line.

    The hour counts as a word.
    """
    row = [_stem(word) for word in (*around.before, MARK, *around.after)]
    return [
        zlib.crc32(f"{first} {second}".encode(errors="replace")) % buckets
        for first, second in pairwise(row)
    ]


def _lines(row: Sequence[str]) -> list[list[str]]:
    """Return the lines of a row of tokens, at least one."""
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
    """Return whether a line has words and no numbers."""
    return _has_word(line) and not any(word == TIME or "0" in word for word in line)


def _written(hour: str) -> Iterator[str]:
    """Yield features for the notation of an hour, its hour and its minutes."""
    digits = re.sub(r"\d", "0", hour.lower())
    yield f"#{digits}"
    full, _, minutes = clock(hour).partition(":")
    yield f"#h{full}"
    yield f"#m{minutes if minutes in {'00', '15', '30', '45'} else 'x'}"


def _stem(word: str) -> str:
    return word if word.startswith("<") else word[:_STEM]
