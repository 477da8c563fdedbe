"""What lies beside a scenario: times at which pages come, and tables of pages."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from sluice.os_errors import reason_of
from sluice.visible_text import quoted
from wms.simulation.errors import WrongScenario

#: The first column of a table: when a page comes.
COMES = "at"


class Row(NamedTuple):
    """A page of a table: when it comes, and of each stage how long its job takes; None: it has
    none."""

    at: float
    times: tuple[float | None, ...]


class Files:
    """Those in a folder. ``tables``: what is not in a file, by the name that it would have. A table
    is read once."""

    def __init__(self, folder: Path, tables: Mapping[str, Sequence[Row]] | None = None) -> None:
        self._folder, self._given = folder, tables or {}
        self._read_before: dict[tuple[str, tuple[str, ...]], list[Row]] = {}

    def times(self, name: str) -> list[float]:
        """A number a line, seconds; sorted. Raises ``WrongScenario``, as all here do."""
        file, text = self._read(name)
        return sorted(
            _seconds(line, f"{file}:{number}")
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.startswith("#")
        )

    def table(self, name: str, stages: Sequence[str]) -> Sequence[Row]:
        """In order of when pages come."""
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
    """As ``Files.table`` reads it. Raises ``OSError``."""
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
