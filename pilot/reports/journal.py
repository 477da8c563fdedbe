"""Journals of attempts on disk.

A journal is only appended to, so that a job does not create files. Each line is ``<kind> <JSON>``::

    begun [id, attempt]              the attempt has started
    placing [[id, attempt], [url]]   it is about to write these files to storages
    report {…}                       its report, which accounts for its files
    gone [id, attempt]               it ended without a report, and its files are removed

``<journal>.answered`` holds a line ``[id, attempt]`` for every report that the WMS has answered.
After a kill, the journals tell which reports still have to be sent and which files nothing will
report.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from pilot.domain.model import Token
from sluice.contracts.pilots.reports import AttemptReport

_SUFFIX = ".journal"
_ANSWERED = ".answered"

#: Bytes after which a new journal is started.
_LARGE = 4 << 20


class Journal:
    """A journal that one process writes.

    ``name`` changes when a new file is started. All lines of one attempt are in one file.
    """

    def __init__(self, folder: Path, writer: str) -> None:
        self._folder = folder
        self._writer = writer
        self._number = 0
        self._size = 0
        self._file: int | None = None

    @property
    def name(self) -> str:
        """Return the name of the current file."""
        return f"{self._writer}.{self._number}{_SUFFIX}"

    def record_start(self, token: Token) -> None:
        """Record that an attempt has started."""
        if self._size >= _LARGE:
            self.close()
            self._number += 1
            self._size = 0
        self._append("begun", json.dumps(token))

    def record_urls(self, token: Token, urls: list[str]) -> None:
        """Record the URLs that an attempt is about to write."""
        self._append("placing", json.dumps([token, urls]))

    def record_report(self, report: AttemptReport) -> None:
        """Record the report of an attempt."""
        self._append("report", report.model_dump_json(exclude_defaults=True))

    def record_removal(self, token: Token) -> None:
        """Record that an attempt ended without a report and its files are removed."""
        self._append("gone", json.dumps(token))

    def close(self) -> None:
        """Close the current file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _append(self, kind: str, body: str) -> None:
        """Append a line.

        Raises:
            OSError: The line could not be written, for example on a full disk.
        """
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
    """The journals' record of one attempt."""

    journal: str
    urls: list[str] = field(default_factory=list)
    report: AttemptReport | None = None


def read_journals(folder: Path, *, writer: str = "*") -> dict[Token, Trace]:
    """Return the attempts that have started and are neither gone nor answered, in order of time."""
    traces: dict[Token, Trace] = {}
    answered: set[Token] = set()
    for path in sorted(folder.glob(f"{writer}.*{_SUFFIX}")):
        for kind, body in _read_lines(path):
            _apply(traces, path.name, kind, body)
        answered |= _read_answered_tokens(path.with_name(path.name + _ANSWERED))
    return {token: trace for token, trace in traces.items() if token not in answered}


class UnansweredReports:
    """The unanswered reports of each journal.

    A journal is removed once it is complete and all its reports are answered.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: dict[str, set[Token]] = {}
        self._latest_journals: dict[str, str] = {}

    def expect(self, journal: str, token: Token) -> None:
        """Record that a report in ``journal`` needs an answer.

        Earlier journals of the same writer are complete from now on.
        """
        writer = journal.split(".", 1)[0]
        before = self._latest_journals.get(writer)
        self._latest_journals[writer] = journal
        self._waiting.setdefault(journal, set()).add(token)
        if before is not None and before != journal:
            self._remove_if_done(before)

    def record_answers(self, journal: str, tokens: list[Token]) -> None:
        """Record that the WMS has answered reports of a journal."""
        waiting = self._waiting.get(journal)
        if waiting is None:
            return
        waiting.difference_update(tokens)
        if waiting or journal in self._latest_journals.values():
            with open(self._folder / (journal + _ANSWERED), "a") as file:
                file.writelines(json.dumps(token) + "\n" for token in tokens)
        self._remove_if_done(journal)

    def _remove_if_done(self, journal: str) -> None:
        if self._waiting.get(journal) or journal in self._latest_journals.values():
            return
        self._waiting.pop(journal, None)
        for name in (journal, journal + _ANSWERED):
            (self._folder / name).unlink(missing_ok=True)


def _read_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the complete lines of a journal.

    A kill may have cut off the last line.
    """
    with open(path, errors="replace") as file:
        for line in file:
            if line.endswith("\n"):
                kind, _, body = line.rstrip("\n").partition(" ")
                yield kind, body


def _apply(traces: dict[Token, Trace], journal: str, kind: str, body: str) -> None:
    try:
        match kind:
            case "begun":
                traces.setdefault(_parse_token(json.loads(body)), Trace(journal))
            case "placing":
                token, urls = json.loads(body)
                traces.setdefault(_parse_token(token), Trace(journal)).urls = urls
            case "report":
                report = AttemptReport.model_validate_json(body)
                trace = traces.setdefault((report.id, report.attempt), Trace(journal))
                trace.journal, trace.report = journal, report
            case "gone":
                traces.pop(_parse_token(json.loads(body)), None)
    except (ValueError, ValidationError):
        return  # A full disk has damaged this line.


def _read_answered_tokens(path: Path) -> set[Token]:
    if not path.exists():
        return set()
    tokens: set[Token] = set()
    for line in path.read_text().splitlines():
        try:
            tokens.add(_parse_token(json.loads(line)))
        except ValueError:
            continue
    return tokens


def _parse_token(value: list[int]) -> Token:
    return (value[0], value[1])
