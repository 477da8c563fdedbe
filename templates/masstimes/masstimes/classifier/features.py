"""The features of a context with one marked hour.

They are the words of its line, with distance and side, the words of the heading above, and the
notation of the hour.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from masstimes.folding import fold
from masstimes.hours import clock, find_hour_spans, is_explicit
from masstimes.reading.lines import find_reading

#: Tokens for the marked hour, any other time, and the end of a line.
MARK, TIME, BREAK = "<hour>", "<time>", "<break>"
#: The letters of a word that are kept, without its ending, which Polish inflects.
_STEM = 5
#: The number of words on each side that have features for their side.
_NEAR = 12
#: How often the features of the topic are repeated.
_WEIGHT = 6

#: A context, with the start and end of the hour in it.
MarkedContext = tuple[str, int, int]

_TOKEN = re.compile(r"\d{1,2}[:.](?:\d\d|oo)(?!\d)|\d+(?:[-/]\d+)*|[^\W\d_]+|\n|[^\w\s]")
_TIME = re.compile(r"\d{1,2}[:.](?:\d\d|oo)")


def tokenize(text: str) -> list[str]:
    """Return the words of a text, normalised by ``fold``.

    Each digit becomes 0, all times become one token, and repeated line ends become one.
    """
    result: list[str] = []
    for token in _TOKEN.findall(fold(_normalise_times(text))):
        if token.isspace():
            if result[-1:] != [BREAK]:
                result.append(BREAK)
        else:
            result.append(TIME if _TIME.fullmatch(token) else re.sub(r"\d", "0", token))
    return result


def _normalise_times(text: str) -> str:
    """Return the text with all its times as ``7:00``, however the page writes them."""
    parts, last = [], 0
    for start, end in find_hour_spans(text):
        if is_explicit(text[start:end]):
            parts += [text[last:start], clock(text[start:end]).removeprefix("0")]
            last = end
    return "".join([*parts, text[last:]])


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The tokens around a marked hour.

    ``before`` and ``after`` are its own line to both sides. If that line has no words, ``before``
    begins with the heading. ``heading`` is the nearest line above that has words and no numbers.
    ``other_words`` is everything else.
    """

    before: list[str]
    after: list[str]
    heading: list[str]
    other_words: list[str]


def get_hour(marked_context: MarkedContext) -> str:
    """Return the marked hour."""
    context, start, end = marked_context
    return context[start:end]


def find_surroundings(context: str, start: int, end: int) -> Surroundings:
    """Return the tokens around the hour between ``start`` and ``end``."""
    *above, before = _lines(tokenize(context[:start]))
    after, *below = _lines(tokenize(context[end:]))
    heading = next((line for line in reversed(above) if _is_heading(line)), [])
    elsewhere = [word for line in (*above, *below) for word in line]
    if not _has_word([*before, *after]):
        before = [*heading, BREAK, *before]
    return Surroundings(before, after, heading, elsewhere)


def topic_features(marked_context: MarkedContext) -> list[str]:
    """Return features for the purpose of the hour according to the words near it.

    They are repeated, because the mean of many words would hide one feature.
    """
    context, start, _ = marked_context
    reading = find_reading(context, start)
    topic = reading.topic if reading is not None and reading.topic else "none"
    day = "no" if reading is None or reading.day == "unknown" else "a"
    return [f"@{topic}", f"@{topic} {day} day"] * _WEIGHT


def context_features(marked_context: MarkedContext) -> list[str]:
    """Return the names of all features of a context except pairs, with repetitions."""
    return [
        *word_features(find_surroundings(*marked_context), get_hour(marked_context)),
        *topic_features(marked_context),
    ]


def word_features(around: Surroundings, hour: str) -> list[str]:
    """Return the names of features, with repetitions.

    Words from elsewhere have other names, because they say little about this hour.
    """
    features = [*around.before, MARK, *around.after, *_notation_features(hour)]
    for side, side_words in (("<", around.before[::-1]), (">", around.after)):
        for distance, word in enumerate(side_words[:_NEAR], 1):
            features.append(f"{side}{min(distance, 4)}{_stem(word)}")
            features.append(f"{side}{_stem(word)}")
    features.extend(f"^{_stem(word)}" for word in around.heading)
    features.extend(f"~{_stem(word)}" for word in around.other_words)
    return features


def hash_pairs(around: Surroundings, *, buckets: int) -> list[int]:
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


def _is_heading(line: Sequence[str]) -> bool:
    """Return whether a line has words and no numbers."""
    return _has_word(line) and not any(word == TIME or "0" in word for word in line)


def _notation_features(hour: str) -> Iterator[str]:
    """Yield features for the notation of an hour, its hour and its minutes."""
    digits = re.sub(r"\d", "0", hour.lower())
    yield f"#{digits}"
    full, _, minutes = clock(hour).partition(":")
    yield f"#h{full}"
    yield f"#m{minutes if minutes in {'00', '15', '30', '45'} else 'x'}"


def _stem(word: str) -> str:
    return word if word.startswith("<") else word[:_STEM]
