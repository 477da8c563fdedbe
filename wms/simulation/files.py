"""Files beside a scenario: times of arrivals, and tables of pages."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted
from wms.simulation.errors import WrongScenario

#: The first column of a table: when a page arrives.
COMES = "at"


class Row(NamedTuple):
    """A page in a table.

    Attributes:
        at: When it arrives.
        times: The time of its job in each stage; None: it has no job there.
    """

    at: float
    times: tuple[float | None, ...]


class Files:
    """The files in a folder; each table is read once.

    ``tables`` are tables that are not in a file, by name.
    """

    def __init__(self, folder: Path, tables: Mapping[str, Sequence[Row]] | None = None) -> None:
        self._folder, self._given = folder, tables or {}
        self._read_before: dict[tuple[str, tuple[str, ...]], list[Row]] = {}

    def times(self, name: str) -> list[float]:
        """Return the times in a file, sorted; each line has one number of seconds.

        Raises:
            WrongScenario: The file cannot be read or is invalid.
        """
        file, text = self._read(name)
        return sorted(
            _seconds(line, f"{file}:{number}")
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.startswith("#")
        )

    def table(self, name: str, stages: Sequence[str]) -> Sequence[Row]:
        """Return the pages in a table, in order of arrival.

        Raises:
            WrongScenario: The file cannot be read or is invalid.
        """
        if name in self._given:
            return self._given[name]
        key = (name, tuple(stages))
        if key not in self._read_before:
            self._read_before[key] = self._read_table(name, stages)
        return self._read_before[key]

    def _read_table(self, name: str, stages: Sequence[str]) -> list[Row]:
        file, text = self._read(name)
        lines = csv.reader(StringIO(text))
        wanted, found = [COMES, *stages], [cell.strip() for cell in next(lines, [])]
        if found != wanted:
            raise WrongScenario(
                f"{file}:1: the columns are {_named(wanted)}, as the stages of the pipeline;"
                f" these are {_named(found)}"
            )
        rows = [
            _row(line, f"{file}:{lines.line_num}", columns=len(wanted))
            for line in lines
            if any(cell.strip() for cell in line)
        ]
        return sorted(rows, key=lambda row: row.at)

    def _read(self, name: str) -> tuple[Path, str]:
        file = self._folder / name
        try:
            return file, file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise WrongScenario(f"arrivals: {file}: cannot be read: {reason_of(error)}") from error


def write_table(file: Path, stages: Sequence[str], rows: Sequence[Row]) -> None:
    """Write a table that ``Files.table`` reads.

    Raises:
        OSError: The file cannot be written.
    """
    with file.open("w", encoding="utf-8", newline="") as opened:
        written = csv.writer(opened, lineterminator="\n")
        written.writerow([COMES, *stages])
        for row in rows:
            written.writerow([f"{time:.6g}" if time is not None else "" for time in
                              (row.at, *row.times)])  # fmt: skip


def _row(line: Sequence[str], where: str, *, columns: int) -> Row:
    if len(line) != columns:
        raise WrongScenario(f"{where}: has {len(line)} columns, not {columns}")
    at, *times = (_seconds(cell, where) if cell.strip() else None for cell in line)
    if at is None:
        raise WrongScenario(f"{where}: does not say when the page comes")
    if all(time is None for time in times):
        raise WrongScenario(f"{where}: a page has a job, and this one has none")
    return Row(at, tuple(times))


def _seconds(text: str, where: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e9:
        raise WrongScenario(f"{where}: {quoted(text.strip())} is not a number of seconds from 0 up")
    return found


def _named(columns: Sequence[str]) -> str:
    return ", ".join(columns) or "none"
