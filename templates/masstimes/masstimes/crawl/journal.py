"""The answers of a site so far, in an append-only file.

A crawl can resume from any beginning of the file that ends with a line, also from a copy made
during the crawl.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from masstimes.crawl.visits import Answer, Outcome

#: The number of bytes in memory from which on they are written.
_MAX_BUFFER = 2**20
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
        self._first_line = _dump_line({"about": dict(about)})
        self._buffer: list[bytes] = []
        self._size = 0
        size = self._complete_size()
        if size:
            with path.open("r+b") as file:
                file.truncate(size)
        else:
            path.unlink(missing_ok=True)
            self._append(self._first_line)

    def _complete_size(self) -> int:
        """Return the size of the complete lines, 0 for another crawl or no file."""
        try:
            with self._path.open("rb") as file:
                if file.readline() != self._first_line:
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
        line = _dump_line({"url": entry.url, **asdict(entry.answer)})
        self._append(line[:-1] + _TAB + entry.page + b"\n" if entry.page else line)

    def end(self, summary: Mapping[str, Any]) -> None:
        """Add the summary as the last line."""
        self._append(_dump_line({"ended": dict(summary)}))
        self.flush()

    def _append(self, line: bytes) -> None:
        self._buffer.append(line)
        self._size += len(line)
        if self._size >= _MAX_BUFFER:
            self.flush()

    def flush(self) -> None:
        """Write the entries that are in memory."""
        if self._buffer:
            with self._path.open("ab") as file:
                file.write(b"".join(self._buffer))
            self._buffer.clear()
            self._size = 0

    def entries(self) -> Iterator[Entry]:
        """Yield all entries in order."""
        for line in self._lines():
            content, _, page = line[:-1].partition(_TAB)
            fields = json.loads(content)
            if "outcome" in fields:
                yield Entry(fields.pop("url"), _parse_answer(fields), page)

    def get_summary(self) -> dict[str, Any] | None:
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
        self._buffer.clear()
        self._path.unlink(missing_ok=True)


def _parse_answer(fields: dict[str, Any]) -> Answer:
    links = tuple((url, text) for url, text in fields.pop("links"))
    return Answer(**{**fields, "outcome": Outcome(fields["outcome"]), "links": links})


def _dump_line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode(errors="replace") + b"\n"
