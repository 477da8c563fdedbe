"""The answers of a site so far, in an append-only file.

A crawl can resume from any beginning of the file that ends with a line, also from a copy made
during the crawl.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from masstimes.crawl.visits import Answer, Outcome

#: The number of bytes in memory from which on they are written.
_KEPT_BACK = 2**20
#: The separator between an answer and its page. JSON text contains none.
_TAB = b"\t"


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer. ``page`` is its line of the output, if there is one."""

    url: str
    answer: Answer
    page: bytes = b""


class Journal:
    """The journal of a crawl.

    ``about`` identifies the crawl. A file about another crawl is replaced. Entries are in memory
    until the next ``flush`` or until they are large.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self._path = path
        self._first = _dumped({"about": dict(about)})
        self._kept: list[bytes] = []
        self._size = 0
        whole = self._whole()
        if whole:
            with path.open("r+b") as file:
                file.truncate(whole)
        else:
            path.unlink(missing_ok=True)
            self._keep(self._first)

    def _whole(self) -> int:
        """Return the size of the complete lines, 0 for another crawl or no file."""
        try:
            with self._path.open("rb") as file:
                if file.readline() != self._first:
                    return 0
                size = file.tell()
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    size += len(line)
                return size
        except FileNotFoundError:
            return 0

    def add(self, entry: Entry) -> None:
        """Add an entry."""
        line = _dumped({"url": entry.url, **asdict(entry.answer)})
        self._keep(line[:-1] + _TAB + entry.page + b"\n" if entry.page else line)

    def end(self, summary: Mapping[str, Any]) -> None:
        """Add the summary as the last line."""
        self._keep(_dumped({"ended": dict(summary)}))
        self.flush()

    def _keep(self, line: bytes) -> None:
        self._kept.append(line)
        self._size += len(line)
        if self._size >= _KEPT_BACK:
            self.flush()

    def flush(self) -> None:
        """Write the entries that are in memory."""
        if self._kept:
            with self._path.open("ab") as file:
                file.write(b"".join(self._kept))
            self._kept.clear()
            self._size = 0

    def entries(self) -> Iterator[Entry]:
        """Yield all entries in order."""
        for line in self._lines():
            content, _, page = line[:-1].partition(_TAB)
            found = json.loads(content)
            if "outcome" in found:
                yield Entry(found.pop("url"), _answer(found), page)

    def ended(self) -> dict[str, Any] | None:
        """Return the summary, or None if the crawl has not ended."""
        last = b""
        for last in self._lines():  # noqa: B007 - the last one
            pass
        if not last.startswith(b'{"ended"'):
            return None
        summary: dict[str, Any] = json.loads(last)["ended"]
        return summary

    def _lines(self) -> Iterator[bytes]:
        self.flush()
        with self._path.open("rb") as file:
            yield from file

    def remove(self) -> None:
        """Delete the file."""
        self._kept.clear()
        self._path.unlink(missing_ok=True)


def _answer(found: dict[str, Any]) -> Answer:
    links = tuple((url, text) for url, text in found.pop("links"))
    return Answer(**{**found, "outcome": Outcome(found["outcome"]), "links": links})


def _dumped(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode(errors="replace") + b"\n"
