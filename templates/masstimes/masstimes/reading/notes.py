"""Words between two hours: a note on the first hour, or a label of the second."""

import re

from masstimes.cells import CELL
from masstimes.hours import clock
from masstimes.reading.days import UNKNOWN, find_days, find_season, find_season_spans
from masstimes.reading.words import find_topics

#: Words in brackets or after a dash belong to the hour before them.
_NOTE = re.compile(r"^[.,]?\s*\([^()\n]{0,120}\)|^\s*[-–—]\s*[^,;.(\d]*")
_NEXT_LABEL = re.compile(r"(?<!św)(?<!sw)(?<!ks)(?<!godz)\.\s|[;|]|,\s|\boraz\b|\bi\s|\s/\s")
#: The end of the words after an hour, and text without words before the next hour.
_NEXT_PART = re.compile(rf"{_NEXT_LABEL.pattern}|{CELL}")
_NO_WORDS = re.compile(r"[\s,;|]*(?:o\s+)?(?:godz\w*\.?\s*)?")
_SPAN = re.compile(r"^\s*(?:[-–—]|do)\s*$")
#: A bracket that is still open before the next hour, as in "18:00 (w wakacje 20:00)".
OPEN_BRACKET = re.compile(r"\([^()]*$")
#: Text between a season and the hour that it belongs to.
_BEFORE_HOUR = re.compile(r"\s*(?:[:–—-]\s*)?(?:(?:o|od|godz\w*|tylko)\b\.?\s*)*")
_BEFORE_SEASON = re.compile(
    r"(?:\b(?:w|we|od|podczas|przez)\s+)?(?:\b(?:okres|czas|miesiac)\w*\s+)?(?:\bod\s+)?$"
)
_WITHOUT = re.compile(r"(?:oprocz|procz|poza|wyjatkiem|bez)\s+(?:\w+\s+){0,3}$")

#: The largest number of minutes of a mass, and of one that is certainly no list of two masses.
_MAX_MINUTES, _CERTAIN_MINUTES = 90, 59


def find_span_ends(line: str, spans: list[tuple[int, int]]) -> set[int]:
    """Return the starts of hours at which masses end, as the second hour of ``8:00-8:45``.

    In ``8:00-10:00`` and ``7:30 - 8:15 - 9:00``, all hours may be masses.
    """
    runs: list[list[tuple[int, int]]] = []
    for span in spans:
        if runs and _SPAN.match(line[runs[-1][-1][1] : span[0]]):
            runs[-1].append(span)
        else:
            runs.append([span])
    minutes = {
        run[1][0]: _minutes(line, run[1]) - _minutes(line, run[0]) for run in runs if len(run) == 2
    }
    if not any(0 < each <= _CERTAIN_MINUTES for each in minutes.values()):
        return set()
    return {start for start, each in minutes.items() if 0 < each <= _MAX_MINUTES}


def _minutes(line: str, span: tuple[int, int]) -> int:
    hours, minutes = clock(line[slice(*span)]).split(":")
    return 60 * int(hours) + int(minutes)


class Gap:
    """The words between an hour and the next one, or the end of the line.

    Args:
        original: The words.
        plain: The folded words.
        after: The folded words after the next hour, or None if there is no next hour.
        label: The folded words before the first hour.
    """

    def __init__(self, original: str, plain: str, after: str | None, label: str) -> None:
        self._original, self._plain = original, plain
        self._after, self._label = after, label

    def note_length(self, *, is_hour_first: bool) -> int:
        """Return the length of the words that belong to the hour before them.

        Args:
            is_hour_first: The line begins with an hour.
        """
        if _SPAN.match(self._original) or not self._original.strip():
            return 0
        is_last = self._after is None
        if not is_last and (start := self._next_label()) is not None:
            before = Gap(self._original[:start], self._plain[:start], "", self._label)
            return before.note_length(is_hour_first=is_hour_first)
        if not is_last and self._has_season_of_first():
            return len(self._plain)
        if (note := _NOTE.match(self._original)) is not None:
            return note.end()
        if is_last and (is_hour_first or not _NEXT_LABEL.search(self._original)):
            return len(self._original)
        return self._words_length(is_hour_first=is_hour_first)

    def _next_label(self) -> int | None:
        """Return the start of words that certainly belong to the next hour, or None.

        They are in one bracket with the hour, or name its season: ``18:00 zimą 17:00``.
        """
        if bracket := OPEN_BRACKET.search(self._plain):
            return bracket.start()
        if not self._ends_with_season() or self._has_season_of_first():
            return None
        start = find_season_spans(self._plain)[0][0]
        before = _BEFORE_SEASON.search(self._plain[:start])
        return before.start() if before else start

    def _ends_with_season(self) -> bool:
        seasons = find_season_spans(self._plain)
        return (
            bool(seasons)
            and _WITHOUT.search(self._plain[: seasons[0][0]]) is None
            and _BEFORE_HOUR.fullmatch(self._plain, seasons[-1][1]) is not None
        )

    def _has_season_of_first(self) -> bool:
        """Return whether each hour is before its own season: ``18:00 latem 17:00 zimą``."""
        after = _NEXT_PART.split(self._after or "", maxsplit=1)[0]
        return (
            self._ends_with_season()
            and ":" not in self._plain
            and bool(find_season_spans(after))
            and not find_season_spans(self._label)
        )

    def _words_length(self, *, is_hour_first: bool) -> int:
        """Return the length of the words after an hour that no comma separates from it.

        All words before the last separator belong to the hour if none follow the separator. In a
        line that begins with words, the words after an hour must name a purpose or a season.
        """
        gap = self._plain
        separator = _NEXT_LABEL if is_hour_first else _NEXT_PART
        cuts = [cut.span() for cut in separator.finditer(gap)]
        if not cuts:
            return len(gap) if is_hour_first else 0
        first = words = gap[: cuts[0][0]]
        has_season = False
        if self._after is None:
            words = gap[: next((cut for cut, _ in cuts if gap[cut] not in "io"), len(gap))]
        elif _NO_WORDS.fullmatch(gap, cuts[-1][1]):
            words = gap[: cuts[-1][0]]
            has_season = find_days(words) == UNKNOWN and find_season(words, words) != ""
        if is_hour_first or (first.strip() and (has_season or find_topics(first))):
            return len(words)
        return 0
