"""The columns of a table, and what its header says about the hours below."""

from dataclasses import dataclass

from masstimes.cells import CELL
from masstimes.reading.days import UNKNOWN, Days, find_season
from masstimes.reading.weeks import find_days_and_weeks
from masstimes.reading.words import Topic, find_topics


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, according to its header.

    Attributes:
        topic: The purpose of its hours, or None.
        days: Their days, or unknown.
        season: Their season in the words of the page, or empty.
    """

    topic: Topic | None = None
    days: Days = UNKNOWN
    season: str = ""


def parse_header(plain: str, line: str) -> tuple[Column, ...]:
    """Return the columns of a line, none if it is no header.

    A header has two topics, two kinds of days, or two seasons, in separate cells.

    Args:
        plain: The folded line.
        line: The line itself.
    """
    columns = tuple(
        Column(
            next((topic for _, topic in find_topics(cell)), None),
            find_days_and_weeks(cell),
            find_season(cell, original),
        )
        for cell, original in zip(plain.split(CELL), line.split(CELL), strict=True)
    )
    column_topics = {column.topic for column in columns} - {None}
    days = {column.days for column in columns} - {UNKNOWN}
    seasons = {column.season for column in columns} - {""}
    return columns if max(len(column_topics), len(days), len(seasons)) > 1 else ()


def join_headers(above: tuple[Column, ...], below: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return a header of two lines, or ``below`` if they have not the same columns."""
    if len(above) != len(below):
        return below
    return tuple(
        Column(
            low.topic or high.topic,
            low.days if low.days != UNKNOWN else high.days,
            low.season or high.season,
        )
        for high, low in zip(above, below, strict=True)
    )


def get_column(header: tuple[Column, ...], plain: str, place: int) -> Column:
    """Return the column of a position in a row.

    A row with more or fewer cells than the header has spanning cells, so its columns are unknown.
    """
    if not header or plain.count(CELL) + 1 != len(header):
        return Column()
    return header[plain.count(CELL, 0, place)]
