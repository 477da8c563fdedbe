"""Reading of a page line by line.

Headings apply to the lines below them, and words to the hours near them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from masstimes.cells import CELL
from masstimes.hours import clock, find_hour_spans, has_unit, is_explicit
from masstimes.reading.days import (
    DAILY,
    UNKNOWN,
    Day,
    Days,
    except_days,
    find_day_columns,
    find_season,
    get_months,
    is_in_dates,
    names_other_days,
    names_when_at_end,
)
from masstimes.reading.footnotes import find_footnote, find_footnotes, is_footnote
from masstimes.reading.notes import OPEN_BRACKET, Gap, find_span_ends
from masstimes.reading.tables import Column, get_column, join_headers, parse_header
from masstimes.reading.weeks import find_days_and_weeks, fold_with_numerals
from masstimes.reading.words import Topic, find_topics, fold_in_place, names_news

#: The number of lines without relevant words after which a heading no longer applies.
_PATIENCE = 6
#: The largest length of a heading in characters.
_HEADING = 90
#: The number of characters around a bare number that decide whether it is an hour.
_NEAR = 80
#: The largest length of the words before the first hour of a line, of which a season is one.
_LABEL = 500
_WORD = re.compile(r"[^\W\d_]{2}")
_BULLET = re.compile(r"^[\s#>*•·\-–—.]*")
#: The end of a bracket that began before an hour.
_CLOSING_BRACKET = re.compile(r"[^()]*\)")
_AT = re.compile(r"^(?:o\s+)?(?:godz\w*\.?\s*)?(?=\d)")
#: Verses of the Bible, as in "Mt 7, 12".
_VERSE = re.compile(
    r"\b(?:mt|mk|lk|j|dz|rz|kor|ga|ef|flp|kol|tes|tm|tt|flm|hbr|jk|p|ap|rdz|wj|kpl|lb|pwt|joz|sdz"
    r"|rt|sm|krl|krn|ezd|ne|tb|jdt|est|hi|ps|prz|koh|pnp|mdr|syr|iz|jr|lm|ba|ez|dn|oz|jl|am|mi|ml)"
    r"\.?\s+(?:\d{1,3}\s*[,.:;]\s*[\d\s,.;–-]*)?$"
)
#: A mass after a devotion, at the same hour.
_AND_MASS = re.compile(r"\b(?:i|oraz)\s+msz[ae]\b")
_SENTENCE = re.compile(r"[a-z]{4}\.\s")
_BEFORE_BARE = re.compile(r"(?:\bg(?:odz\w*)?\.?|\bo|\bi|\boraz|[,;:(]|\d|^)\s*$")
_AFTER_BARE = re.compile(
    r"^\s*(?:$|[,;.)(\d]|i\s|oraz\s|[-–]\s|-[a-z]{2,5}\b|w\s|msz|rano\b|wiecz|po\s+pol)"
)
#: Words beside a number of hours, as in "trwa 8h" and "8h dziennie".
_BEFORE_DURATION = re.compile(
    r"\b(?:przez|trwa\w*|co|ponad|okolo|ok\.?|za|lacznie|razem|maks\w*\.?|min\.?|po)\s*$"
)
_AFTER_DURATION = re.compile(r"\s*(?:dzien|tygodn|miesiecz|lekc|na\s+(?:dob|dzien|tyd))")
_NONE = re.compile(
    r"\bnie\s+ma\b|\bbrak\b|nie\s+odprawi\w+|nie\s+jest\s+odprawi\w+|\bbez\s+msz"
    r"|\ba\s+nie\b|\bzamiast\b|\btransmisj\w+[^\d()]*\bod\s+(?:godz\w*\.?\s*)?$"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """The facts about an hour on a page.

    Attributes:
        time: The time as ``07:00``.
        start: The position of the hour in the text.
        topic: Its purpose, or None if no text mentions it.
        day: The kind of day.
        days: The single days as ``mon-fri``, or empty for all days of that kind.
        season: The season in the words of the page, or empty for the whole year.
        weeks: The weeks of the month as ``1``, ``2 4`` or ``last``, or empty for every week.
        in_columns: It is in a table whose columns are days, and its column is unknown.
        is_daily: It is on weekdays, and also on Sundays if the page has no other hours for them.
    """

    time: str
    start: int
    topic: Topic | None
    day: Day
    days: str = ""
    season: str = ""
    weeks: str = ""
    in_columns: bool = False
    is_daily: bool = False

    @property
    def months(self) -> str:
        """Return the months of the season."""
        return get_months(self.season)


@dataclass(slots=True)
class _Section:
    topic: Topic | None
    days: Days = UNKNOWN
    season: str = ""
    heading_season: str = ""  # the season of a heading without days, for all days below
    misses: int = 0
    is_headed: bool = False  # the days are in a heading, not beside hours
    columns: tuple[Days, ...] = ()  # the header of a table names Sundays and weekdays
    header: tuple[Column, ...] = ()  # the same, cell by cell
    has_rows: bool = False  # below the header
    is_news: bool = False  # a heading of announcements, each about one day

    def begin(
        self, topic: Topic | None, days: Days = UNKNOWN, season: str = "", heading_season: str = ""
    ) -> None:
        """Forget the headings above, except the season ``heading_season``."""
        self.topic, self.days = topic, days
        self.season, self.heading_season = season or heading_season, heading_season
        self.misses, self.is_headed, self.columns, self.header = 0, days != UNKNOWN, (), ()

    def get_column_days(self, number: int, count: int, *, default: Days) -> Days:
        """Return the days of an hour in a row of ``count`` hours, below a header of days."""
        if not self.columns:
            return default
        return self.columns[number] if count == len(self.columns) else UNKNOWN


def find_reading(text: str, start: int, *, topic: Topic | None = None) -> Reading | None:
    """Return the reading of the hour at ``start``, or None."""
    all_readings = find_readings(text, topic=topic)
    return next((each for each in all_readings if each.start == start), None)


def find_readings(text: str, *, topic: Topic | None = None) -> list[Reading]:
    """Return the readings of all hours of a text, with a default for their ``topic``."""
    section = _Section(topic)
    footnotes = find_footnotes(text)
    result: list[Reading] = []
    start = 0
    for line in text.split("\n"):
        spans = [(begin, end) for begin, end in find_hour_spans(line) if _is_hour(line, begin, end)]
        plain = fold_with_numerals(line)
        if spans:
            ends = find_span_ends(line, spans)
            for reading in _LineReader(line, plain, start, section, footnotes=footnotes).read(
                spans
            ):
                is_end = reading.start - start in ends
                result.append(replace(reading, topic=Topic.DEVOTION) if is_end else reading)
        elif not is_footnote(line, footnotes):
            _apply_heading(line, plain, section, topic)
        start += len(line) + 1
    return result


def _is_hour(line: str, begin: int, end: int) -> bool:
    """Return whether a number is an hour, by the words beside it."""
    before, after = line[max(0, begin - _NEAR) : begin], line[end : end + _NEAR]
    near = fold_in_place(before + line[begin:end] + after)
    if _VERSE.search(fold_in_place(before)) or is_in_dates(near, len(before)):
        return False
    if has_unit(line[begin:end]) and (
        _BEFORE_DURATION.search(fold_in_place(before))
        or _AFTER_DURATION.match(fold_in_place(after))
    ):
        return False
    if is_explicit(line[begin:end]):
        return True
    if _WORD.search(before) is None and _WORD.search(after) is not None:
        return False  # "12 rocznica"
    plain = fold_in_place(before)
    is_listed = _BEFORE_BARE.search(plain) is not None or names_when_at_end(plain)
    return is_listed and _AFTER_BARE.search(fold_in_place(after)) is not None


def _apply_heading(line: str, plain: str, section: _Section, default: Topic | None) -> None:
    """Apply a line without hours to the section below it."""
    if not plain.strip():
        return
    line_topics, season = find_topics(plain), find_season(plain, line)
    days = find_days_and_weeks(plain)
    is_short = len(plain) <= _HEADING
    header = parse_header(plain, line) or (section.header if CELL in line else ())
    if not section.has_rows:
        header = join_headers(section.header, header)
    section.has_rows = False
    if any(column.season for column in header):
        season = ""
    if is_short and (line_topics or plain.lstrip().startswith("#")):
        section.is_news = names_news(plain) and not any(topic.is_mass for _, topic in line_topics)
    if is_short and (line_topics or days != UNKNOWN or names_other_days(plain)):
        heading_season = section.heading_season if not line_topics and not season else ""
        heading_season = season if days == UNKNOWN else heading_season
        section.begin(
            line_topics[0][1] if line_topics else section.topic, days, season, heading_season
        )
        section.columns, section.header = find_day_columns(plain), header
    elif is_short and season:
        section.season, section.heading_season, section.misses = season, season, 0
    elif is_short and header and header != section.header:
        section.header, section.misses = header, 0
    elif plain.lstrip().startswith("#"):
        section.begin(default)
    else:
        section.misses += 1 if is_short else _PATIENCE // 2
        if section.misses >= _PATIENCE:
            section.begin(default)


def _begins_with_topic(note: str) -> bool:
    """Return whether words after an hour begin with its purpose, as in ``17:30 Różaniec``."""
    return any(note[:place].isspace() for place, _ in find_topics(note)[:1])


class _LineReader:
    """A line with hours. Words before an hour label it. Words after it may be a note on it."""

    def __init__(
        self, line: str, plain: str, start: int, section: _Section, *, footnotes: Mapping[str, str]
    ) -> None:
        self._line, self._plain = line, plain
        self._start, self._section = start, section
        self._footnotes = footnotes
        self._hour_first = _AT.match(_BULLET.sub("", plain)) is not None

    def read(self, spans: list[tuple[int, int]]) -> Iterator[Reading]:
        """Yield the readings of the hours in these spans."""
        section = self._section
        section.misses, section.has_rows = 0, True
        topic, days, season = section.topic, section.days, section.season
        label_start = previous_end = 0
        outside = topic, days, season
        for number, (begin, end) in enumerate(spans):
            label = self._plain[label_start:begin]
            if number and _CLOSING_BRACKET.match(self._plain[previous_end:begin]):
                topic, days, season = outside
            if number and OPEN_BRACKET.search(label):
                outside = topic, days, season
            days = section.get_column_days(number, len(spans), default=days)
            column = get_column(section.header, self._plain, begin)
            if column.days != UNKNOWN:
                days = column.days
            note_end = end + self._gap(spans, number).note_length(is_hour_first=self._hour_first)
            label_topics = find_topics(label)
            if label_topics:
                topic = self._label_topic(label, label_topics, number)
            if section.is_news and len(spans) == 1 and topic is Topic.MASS:
                topic = Topic.ONCE
            topic = column.topic or topic
            is_own = bool(label_topics or column.topic)
            if label_topics and topic is Topic.MASS and ":" in label[label_topics[-1][0] :]:
                is_own = not _begins_with_topic(self._plain[end:note_end])
            if (label_days := self._label_days(label)) is not None:
                days, season = label_days, section.heading_season
                if number == 0 and (not section.is_headed or not (days.names or days.weeks)):
                    section.days, section.season, section.columns = days, section.heading_season, ()
            if label_season := find_season(label, self._line[label_start:begin]):
                season = label_season
            yield self._reading(
                (begin, end),
                note_end,
                (topic, is_own),
                days=days,
                season=season if label_season else column.season or season,
            )
            label_start, previous_end = note_end, end
        self._apply_tail(self._plain[label_start:])

    def _label_days(self, label: str) -> Days | None:
        """Return the days of a label, unknown in other words for days, or None for no days."""
        days = find_days_and_weeks(label)
        if days == DAILY and self._section.days.day == "weekday":
            return Days("weekday")  # "codziennie" below a heading of weekdays
        return None if days == UNKNOWN and not names_other_days(label) else days

    def _gap(self, spans: list[tuple[int, int]], number: int) -> Gap:
        """Return the words between an hour and the next one."""
        end, after = spans[number][1], None
        following, *others = (*spans[number + 1 : number + 3], (len(self._line),))
        if others:
            after = self._plain[following[-1] : others[0][0]]
        first = spans[0][0]
        gap = slice(end, following[0])
        return Gap(
            self._line[gap], self._plain[gap], after, self._plain[max(0, first - _LABEL) : first]
        )

    def _label_topic(self, label: str, label_topics: list[tuple[int, Topic]], number: int) -> Topic:
        """Return the last topic of a label. A mass of one date is not a weekly one."""
        sentence = max((each.end() for each in _SENTENCE.finditer(label)), default=0)
        if any(topic is Topic.ONCE for place, topic in label_topics if place >= sentence):
            return Topic.ONCE
        topic = label_topics[-1][1]
        if number == 0 and topic in {Topic.MASS, Topic.OFFICE}:
            self._section.topic = topic
        return topic

    def _reading(
        self,
        span: tuple[int, int],
        note_end: int,
        label: tuple[Topic | None, bool],
        *,
        days: Days,
        season: str,
    ) -> Reading:
        begin, end = span
        note, original_note = self._plain[end:note_end], self._line[end:note_end]
        plain_footnote, footnote = find_footnote(self._line, end, self._footnotes)
        if footnote:
            note, original_note = f"{note}; {plain_footnote}", f"{original_note}; {footnote}"
        topic, is_own = label
        note_topics = find_topics(note)
        if note_topics and not (is_own and topic in {Topic.MASS, Topic.ONCE}):
            topic = Topic.MASS if _AND_MASS.search(note) else note_topics[0][1]
        note_days = find_days_and_weeks(note)
        if note_days != UNKNOWN and not (
            note_days.day == "sunday" and "msz" in note and days.names
        ):
            days = note_days
        days = except_days(days, note)
        if note_season := find_season(note, original_note):
            season = note_season
        if _NONE.search(self._plain[max(0, begin - 60) : begin]) and not find_season(
            note, original_note
        ):
            topic = None  # "w lipcu nie ma Mszy św. o 10:30"
        return Reading(
            clock(self._line[begin:end]),
            self._start + begin,
            topic,
            days.day,
            "" if days == DAILY else days.names,
            season,
            days.weeks,
            in_columns=bool(self._section.columns) and days == UNKNOWN,
            is_daily=days == DAILY,
        )

    def _apply_tail(self, tail: str) -> None:
        """End the masses of the section if the end of a line names an office."""
        tail_topics = find_topics(tail)
        if tail_topics and tail_topics[-1][1] is Topic.OFFICE and not self._hour_first:
            self._section.topic = Topic.OFFICE
