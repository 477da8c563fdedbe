"""What a site has answered so far, in a file to which answers are added: any beginning of it that
ends with a line is a crawl to go on with, also of a copy that was made meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from masstimes.crawl.visits import Answer, Outcome

#: Bytes that are kept back at most, whenever they are to be written.
_KEPT_BACK = 2**20
#: Between an answer and its page; JSON has none.
_TAB = b"\t"


@dataclass(frozen=True, slots=True)
class Entry:
    """``page``: a line of the output, where there is one."""

    url: str
    answer: Answer
    page: bytes = b""


class Journal:
    """``about``: whose it is; a file about another is begun anew. Nothing is kept back for longer
    than until the next ``flush``.
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
        """Bytes of its whole lines; 0 where it is another's, or there is none."""
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
        line = _dumped({"url": entry.url, **asdict(entry.answer)})
        self._keep(line[:-1] + _TAB + entry.page + b"\n" if entry.page else line)

    def end(self, summary: Mapping[str, Any]) -> None:
        """Nothing more will come."""
        self._keep(_dumped({"ended": dict(summary)}))
        self.flush()

    def _keep(self, line: bytes) -> None:
        self._kept.append(line)
        self._size += len(line)
        if self._size >= _KEPT_BACK:
            self.flush()

    def flush(self) -> None:
        if self._kept:
            with self._path.open("ab") as file:
                file.write(b"".join(self._kept))
            self._kept.clear()
            self._size = 0

    def entries(self) -> Iterator[Entry]:
        """What has been written, one after the other."""
        for line in self._lines():
            content, _, page = line[:-1].partition(_TAB)
            found = json.loads(content)
            if "outcome" in found:
                yield Entry(found.pop("url"), _answer(found), page)

    def ended(self) -> dict[str, Any] | None:
        """What ``end`` was told."""
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
        self._kept.clear()
        self._path.unlink(missing_ok=True)


def _answer(found: dict[str, Any]) -> Answer:
    links = tuple((url, text) for url, text in found.pop("links"))
    return Answer(**{**found, "outcome": Outcome(found["outcome"]), "links": links})


def _dumped(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode(errors="replace") + b"\n"
