"""Files beside a scenario: times of arrivals, and tables of items."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted
from wms.simulation.errors import InvalidScenario

#: The first column of a table: when an item arrives.
ARRIVAL_COLUMN = "at"


class Row(NamedTuple):
    """An item in a table.

    Attributes:
        at: When it arrives.
        times: The time of its job in each stage. None if it has no job there.
    """

    at: float
    times: tuple[float | None, ...]


class Files:
    """The files in a folder; each table is read once.

    ``tables`` are tables that are not in a file, by name.
    """

    def __init__(self, folder: Path, tables: Mapping[str, Sequence[Row]] | None = None) -> None:
        self._folder, self._tables = folder, tables or {}
        self._rows_by_table: dict[tuple[str, tuple[str, ...]], list[Row]] = {}

    def times(self, name: str) -> list[float]:
        """Return the times in a file, sorted; each line has one number of seconds.

        Raises:
            InvalidScenario: The file cannot be read or is invalid.
        """
        file, text = self._read(name)
        return sorted(
            _parse_seconds(line, f"{file}:{number}")
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.startswith("#")
        )

    def table(self, name: str, stages: Sequence[str]) -> Sequence[Row]:
        """Return the items in a table, in order of arrival.

        Raises:
            InvalidScenario: The file cannot be read or is invalid.
        """
        if name in self._tables:
            return self._tables[name]
        key = (name, tuple(stages))
        if key not in self._rows_by_table:
            self._rows_by_table[key] = self._read_table(name, stages)
        return self._rows_by_table[key]

    def _read_table(self, name: str, stages: Sequence[str]) -> list[Row]:
        file, text = self._read(name)
        lines = csv.reader(StringIO(text))
        expected, columns = [ARRIVAL_COLUMN, *stages], [cell.strip() for cell in next(lines, [])]
        if columns != expected:
            raise InvalidScenario(
                f"{file}:1: expected the columns {_join_names(expected)}, as the stages of the"
                f" pipeline, but found {_join_names(columns)}"
            )
        rows = [
            _parse_row(line, f"{file}:{lines.line_num}", columns=len(expected))
            for line in lines
            if any(cell.strip() for cell in line)
        ]
        return sorted(rows, key=lambda row: row.at)

    def _read(self, name: str) -> tuple[Path, str]:
        file = self._folder / name
        try:
            return file, file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidScenario(
                f"arrivals: {file}: cannot be read: {reason_of(error)}"
            ) from error


def write_table(file: Path, stages: Sequence[str], rows: Sequence[Row]) -> None:
    """Write a table that ``Files.table`` reads.

    Raises:
        OSError: The file cannot be written.
    """
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([ARRIVAL_COLUMN, *stages])
        for row in rows:
            writer.writerow([f"{time:.6g}" if time is not None else "" for time in
                              (row.at, *row.times)])  # fmt: skip


def _parse_row(line: Sequence[str], where: str, *, columns: int) -> Row:
    if len(line) != columns:
        raise InvalidScenario(f"{where}: has {len(line)} columns, not {columns}")
    at, *times = (_parse_seconds(cell, where) if cell.strip() else None for cell in line)
    if at is None:
        raise InvalidScenario(f"{where}: has no arrival time of the item")
    if all(time is None for time in times):
        raise InvalidScenario(f"{where}: an item has at least one job, and this item has none")
    return Row(at, tuple(times))


def _parse_seconds(text: str, where: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e9:
        raise InvalidScenario(
            f"{where}: {quoted(text.strip())} is not a number of seconds of 0 or more"
        )
    return seconds


def _join_names(columns: Sequence[str]) -> str:
    return ", ".join(columns) or "none"
