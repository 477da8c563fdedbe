"""The columns of a table: what its header says of the hours below."""

from __future__ import annotations

from dataclasses import dataclass

from masstimes.reading.days import UNKNOWN, Days, days_in
from masstimes.reading.words import Topic, topics
from masstimes.text import CELL


@dataclass(frozen=True, slots=True)
class Column:
    """What the header says of the hours in a column.

    Attributes:
        topic: what they are for; None where the header does not say it.
        days: their days; unknown where the header does not say it.
    """

    topic: Topic | None = None
    days: Days = UNKNOWN


def header_in(plain: str) -> tuple[Column, ...]:
    """Return the columns that a folded line names; empty for a line that is no header.

    A header names two topics, or two kinds of days, in cells of their own.
    """
    columns = tuple(
        Column(next((topic for _, topic in topics(cell)), None), days_in(cell))
        for cell in plain.split(CELL)
    )
    named = {column.topic for column in columns} - {None}
    days = {column.days for column in columns} - {UNKNOWN}
    return columns if len(named) > 1 or len(days) > 1 else ()


def column_at(header: tuple[Column, ...], plain: str, place: int) -> Column:
    """Return the column in which a place of a row is.

    A row with another number of cells than the header has some that span columns: nothing is known.
    """
    if not header or plain.count(CELL) + 1 != len(header):
        return Column()
    return header[plain.count(CELL, 0, place)]
