"""Tables of hours in which marks, such as crosses, say on which days the hours are."""

import re
from collections.abc import Sequence

from masstimes.folding import fold
from masstimes.hours import find_hour_spans, is_explicit
from masstimes.reading.days import UNKNOWN, find_days

#: The lines of a cell, and the cells of a row.
Lines = tuple[str, ...]
Row = list[Lines]

_BRACKETS = re.compile(r"\([^()\n]*\)")
#: Characters for private use, such as icons, which do not count.
_ICONS = re.compile("[\ue000-\uf8ff]\\s*")
_MARK = re.compile(r"(?:x{1,3}|v|tak|[×✕✖✗✘✓✔√☑☒•●■+*])", re.IGNORECASE)
_NO_MARK = re.compile(r"(?:[-–—.]*|nie|brak)", re.IGNORECASE)


def begins_with_hour(line: str) -> bool:
    """Return whether a line begins with an hour, and names no day but in brackets."""
    plain = _ICONS.sub("", line)
    start, end = next(find_hour_spans(plain), (1, 1))
    return (
        start == 0
        and is_explicit(plain[:end])
        and find_days(fold(_BRACKETS.sub("", plain))) == UNKNOWN
    )


def contains_hours(line: str) -> bool:
    """Return whether a line has at least one hour."""
    return any(find_hour_spans(_ICONS.sub("", line)))


def replace_marks(rows: Sequence[Row]) -> None:
    """Replace the marks of a table by the hours of their rows or columns.

    Hours are in the first cells of the rows with marks, or in a row above them. They are removed
    there, so that each hour is only in the column or row of its days.
    """
    header: Row | None = None
    hours: Row = []
    for row in rows:
        title, *cells = row
        if len(cells) > 1 and all(map(_is_hour_cell, cells)) and not _is_hour_cell(title):
            header, hours = row, list(row)
        elif len(cells) < 2 or not _are_marks(cells):
            header, hours = None, []
        elif _is_hour_cell(title):
            row[:] = [(), *(title if _is_marked(cell) else () for cell in cells)]
        elif len(hours) == len(row):
            if header is not None:
                header[1:] = [()] * len(cells)
                header = None
            row[1:] = [
                hour if _is_marked(cell) else ()
                for hour, cell in zip(hours[1:], cells, strict=True)
            ]


def _is_hour_cell(lines: Lines) -> bool:
    return bool(lines) and all(map(begins_with_hour, lines))


def _is_marked(lines: Lines) -> bool:
    return _MARK.fullmatch("".join(lines)) is not None


def _are_marks(cells: Sequence[Lines]) -> bool:
    """Return whether cells have only marks, and at least one says yes."""
    return any(map(_is_marked, cells)) and all(
        _is_marked(lines) or _NO_MARK.fullmatch("".join(lines)) for lines in cells
    )
