"""What attempts have done, on disk before anybody hears of it. A file is only appended to, so that
a job costs no new one.

Lines of a journal, each ``<kind> <JSON>``:

    begun [id, attempt]             the attempt has started
    placing [[id, attempt], [url]]  it is about to put these files on storages
    report {…}                      its report: its files are accounted for from here on
    gone [id, attempt]              it ended without a report, and its files are removed

``<journal>.answered`` holds a line ``[id, attempt]`` for every report that the WMS has answered.
Wherever a kill strikes, what is left says which reports are still to be sent, and which files
nobody will ever report.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from pilot.domain.model import Token
from sluice.contracts.pilots import AttemptReport

_SUFFIX = ".journal"
_ANSWERED = ".answered"

#: Bytes after which a journal is closed and the next begun.
_LARGE = 4 << 20


class Journal:
    """Written by one process. ``name`` changes when a new file is begun; an attempt's lines are all
    in one file."""

    def __init__(self, folder: Path, writer: str) -> None:
        self._folder = folder
        self._writer = writer
        self._number = 0
        self._size = 0
        self._file: int | None = None

    @property
    def name(self) -> str:
        return f"{self._writer}.{self._number}{_SUFFIX}"

    def begun(self, token: Token) -> None:
        if self._size >= _LARGE:
            self.close()
            self._number += 1
            self._size = 0
        self._append("begun", json.dumps(token))

    def placing(self, token: Token, urls: list[str]) -> None:
        self._append("placing", json.dumps([token, urls]))

    def report(self, report: AttemptReport) -> None:
        self._append("report", report.model_dump_json(exclude_defaults=True))

    def gone(self, token: Token) -> None:
        self._append("gone", json.dumps(token))

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _append(self, kind: str, body: str) -> None:
        """Raises ``OSError``, for example on a full disk."""
        if self._file is None:
            self._file = os.open(
                self._folder / self.name,
                os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC,
                0o600,
            )
        line = f"{kind} {body}\n".encode()
        if os.write(self._file, line) != len(line):
            raise OSError("the disk took only part of a line")
        self._size += len(line)


@dataclass(slots=True)
class Trace:
    """What journals say of one attempt."""

    journal: str
    urls: list[str] = field(default_factory=list)
    report: AttemptReport | None = None


def read_journals(folder: Path, *, writer: str = "*") -> dict[Token, Trace]:
    """Attempts that begun and are not gone, in order of time; those answered are left out."""
    traces: dict[Token, Trace] = {}
    answered: set[Token] = set()
    for path in sorted(folder.glob(f"{writer}.*{_SUFFIX}")):
        for kind, body in _lines(path):
            _apply(traces, path.name, kind, body)
        answered |= _answered(path.with_name(path.name + _ANSWERED))
    return {token: trace for token, trace in traces.items() if token not in answered}


class Ledger:
    """The reports of each journal that wait for an answer; a journal is removed when it is closed
    and has none left."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: dict[str, set[Token]] = {}
        self._latest: dict[str, str] = {}

    def expect(self, journal: str, token: Token) -> None:
        """A report in ``journal`` is to be sent. Journals of the same writer with lower numbers are
        complete."""
        writer = journal.split(".", 1)[0]
        before = self._latest.get(writer)
        self._latest[writer] = journal
        self._waiting.setdefault(journal, set()).add(token)
        if before is not None and before != journal:
            self._remove_if_done(before)

    def answered(self, journal: str, tokens: list[Token]) -> None:
        waiting = self._waiting.get(journal)
        if waiting is None:
            return
        waiting.difference_update(tokens)
        if waiting or journal in self._latest.values():
            with open(self._folder / (journal + _ANSWERED), "a") as file:
                file.writelines(json.dumps(token) + "\n" for token in tokens)
        self._remove_if_done(journal)

    def _remove_if_done(self, journal: str) -> None:
        if self._waiting.get(journal) or journal in self._latest.values():
            return
        self._waiting.pop(journal, None)
        for name in (journal, journal + _ANSWERED):
            (self._folder / name).unlink(missing_ok=True)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Complete lines; the last one may have been cut off by a kill."""
    with open(path, errors="replace") as file:
        for line in file:
            if line.endswith("\n"):
                kind, _, body = line.rstrip("\n").partition(" ")
                yield kind, body


def _apply(traces: dict[Token, Trace], journal: str, kind: str, body: str) -> None:
    try:
        match kind:
            case "begun":
                traces.setdefault(_token(json.loads(body)), Trace(journal))
            case "placing":
                token, urls = json.loads(body)
                traces.setdefault(_token(token), Trace(journal)).urls = urls
            case "report":
                report = AttemptReport.model_validate_json(body)
                trace = traces.setdefault((report.id, report.attempt), Trace(journal))
                trace.journal, trace.report = journal, report
            case "gone":
                traces.pop(_token(json.loads(body)), None)
    except (ValueError, ValidationError):
        return  # a line damaged by a full disk


def _answered(path: Path) -> set[Token]:
    if not path.exists():
        return set()
    found: set[Token] = set()
    for line in path.read_text().splitlines():
        try:
            found.add(_token(json.loads(line)))
        except ValueError:
            continue
    return found


def _token(value: list[int]) -> Token:
    return (value[0], value[1])
