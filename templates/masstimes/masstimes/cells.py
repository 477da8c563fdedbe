"""Rows of tables as lines of text, with a tab before each cell."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from masstimes.folding import fold
from masstimes.marked_cells import Lines, Row, begins_with_hour, contains_hours, replace_marks
from masstimes.reading.days import UNKNOWN, find_days, find_season

#: The text before each cell of a table.
CELL = "\t"
#: Marks in the text of a page until its rows are known: a table begins or ends, and so does a row.
TABLE, ROW = "\v", "\x1e"
#: The mark before a cell, with the numbers of rows and columns that the cell spans.
_CELL = re.compile("\f(\\d+) (\\d+)\f")
#: The largest number of rows of a spanning cell, and of columns of a broken row.
_MAX_SPAN = 30
#: The largest number of columns of a spanning cell. No timetable has more, so a larger number means
#: the rest of the row.
_MAX_COLUMNS = 10
#: The largest length of the title of a column, and of a spanning cell that each row repeats.
_TITLE = 60


@dataclass(frozen=True, slots=True)
class _Cell:
    lines: Lines
    rows: int = 1
    columns: int = 1


def cell_mark(attrs: Mapping[str, str | None]) -> str:
    """Return the mark of a cell with the attributes of its tag."""
    columns = _span(attrs.get("colspan"))
    return f"\f{_span(attrs.get('rowspan'))} {columns if columns <= _MAX_COLUMNS else 1}\f"


def _span(value: str | None) -> int:
    digits = re.match(r"\s*(\d{1,3})", value or "", re.ASCII)
    return max(1, min(int(digits[1]), _MAX_SPAN)) if digits else 1


def arrange_rows(text: str) -> str:
    """Return a text whose rows are lines, instead of marks.

    A cell with one line, or with hours alone, stays in the line of its row. Each other line of a
    cell becomes a line with as many cells, so that it keeps its column. A cell that spans rows or
    columns is in each of them. Marks become the hours of their rows or columns.
    """
    pieces: list[str] = []
    for table in text.split(TABLE):
        spanning: dict[int, _Cell] = {}
        parts: list[str | Row] = []
        for part in table.split(ROW):
            before, *cells = _CELL.split(part)
            if before.strip():
                parts.append(before)
            if cells:
                triples = zip(cells[::3], cells[1::3], cells[2::3], strict=True)
                row = [
                    _Cell(_lines(text), int(rows), int(columns)) for rows, columns, text in triples
                ]
                parts.append(_add_spanning(row, spanning))
        replace_marks([part for part in parts if not isinstance(part, str)])
        pieces += [part if isinstance(part, str) else _arrange_row(part) for part in parts]
    return "".join(piece if piece.endswith("\n") else f"{piece}\n" for piece in pieces)


def _lines(text: str) -> Lines:
    return tuple(filter(None, map(str.strip, text.split("\n"))))


def _join_hours(lines: Lines) -> Lines:
    """Return the lines of a cell, with commas in place of the breaks between hours."""
    result: list[str] = []
    is_after_hour = False
    for line in lines:
        is_hour = begins_with_hour(line)
        if is_hour and is_after_hour:
            result[-1] += f", {line}"
        else:
            result.append(line)
        is_after_hour = is_hour
    return tuple(result)


def _add_spanning(cells: list[_Cell], spanning_cells: dict[int, _Cell]) -> Row:
    """Return the lines of a row's cells, with those of cells above that span the row.

    Args:
        cells: The cells of the row itself.
        spanning_cells: The cells that span the row by their column. The function changes them to
            those that span the next row.
    """
    above = dict(spanning_cells)
    spanning_cells.clear()
    spanning_cells.update(
        {
            column: replace(cell, rows=cell.rows - 1)
            for column, cell in above.items()
            if cell.rows > 1
        }
    )
    row: Row = []
    is_alone = len(cells) + len(above) == 1
    column = number = 0
    while number < len(cells) or column in above:
        if column in above:
            cell = above[column]
        else:
            cell = cells[number]
            number += 1
            if cell.rows > 1 and column < _MAX_SPAN:
                title = " ".join(cell.lines)
                repeated = (title,) if title and len(title) <= _TITLE else ()
                spanning_cells[column] = _Cell(repeated, cell.rows - 1, cell.columns)
        row.append(cell.lines)
        if not is_alone and column < _MAX_SPAN:
            row += [_repeat(cell.lines)] * (cell.columns - 1)
        column += cell.columns
    return row


def _repeat(lines: Lines) -> Lines:
    """Return the lines that a cell repeats in each further column that it spans."""
    text = " ".join(lines)
    is_repeated = len(text) <= _TITLE and (begins_with_hour(text) or not contains_hours(text))
    return lines if is_repeated else ()


def _arrange_row(cells: Row) -> str:
    """Return the lines of a row, each with all columns."""
    if _are_parallel(cells):
        rows = [dict(enumerate(row)) for row in zip(*cells, strict=True)]
    elif _are_titles(cells):
        rows = [{column: " ".join(lines) for column, lines in enumerate(cells)}]
    else:
        rows = _break_row([_join_hours(lines) for lines in cells])
    if len(cells) > _MAX_SPAN:  # no table of hours
        return "".join(f"{CELL}{CELL.join(row.values())}\n" for row in rows)
    columns = range(len(cells))
    return "".join(
        "".join(f"{CELL}{row.get(column, '')}" for column in columns) + "\n" for row in rows
    )


def _break_row(cells: Row) -> list[dict[int, str]]:
    """Return the lines of a row, each as texts by their column.

    A cell begins a new line if a cell before it has more than one line. A cell with a title and
    other lines also begins a new line after hours, which the title does not concern.
    """
    rows: list[dict[int, str]] = [{}]
    is_broken = has_hours = False
    for column, lines in enumerate(cells):
        is_titled = len(lines) > 1 and not contains_hours(lines[0])
        is_broken = is_broken or (is_titled and has_hours)
        for number, line in enumerate(lines):
            if number or is_broken:
                rows.append({})
            rows[-1][column] = line
        is_broken = is_broken or len(lines) > 1
        has_hours = has_hours or any(map(contains_hours, lines))
    return rows


def _are_titles(cells: Row) -> bool:
    """Return whether the cells are titles of columns, which have no hours."""
    titles = [" ".join(lines) for lines in cells]
    return len(titles) > 1 and not any(
        len(title) > _TITLE or contains_hours(title) for title in titles
    )


def _are_parallel(cells: Row) -> bool:
    """Return whether the lines of the first cell have the days or seasons of those beside them."""
    labels, *others = cells
    return (
        len(labels) > 1
        and bool(others)
        and all(len(lines) == len(labels) for lines in others)
        and all(map(_is_label, labels))
        and all(begins_with_hour(line) for lines in others for line in lines)
    )


def _is_label(line: str) -> bool:
    plain = fold(line)
    names_period = find_days(plain) != UNKNOWN or find_season(plain, line) != ""
    return names_period and not contains_hours(line)
