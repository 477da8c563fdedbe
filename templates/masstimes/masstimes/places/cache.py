"""Answers that have been paid for, kept in a file: none is asked for twice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pack_command import BadData


class Cache:
    """Lines of JSON, added to; each is on the disk before its answer is used. Raises ``BadData``
    for a file of something else; a last line that was cut off does not count."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, list[dict[str, Any]]] = {}
        whole = path.read_bytes() if path.exists() else b""
        kept = whole[: whole.rfind(b"\n") + 1]
        for number, line in enumerate(kept.splitlines(), 1):
            try:
                known = json.loads(line)
                self._known[known["query"]] = list(known["results"])
            except (ValueError, TypeError, KeyError) as error:
                raise BadData(path, f"line {number} is no answer of a places API") from error
        if kept != whole:
            os.truncate(path, len(kept))

    def get(self, query: str) -> list[dict[str, Any]] | None:
        return self._known.get(query)

    def put(self, query: str, results: list[dict[str, Any]]) -> None:
        self._known[query] = results
        line = json.dumps({"query": query, "results": results}, ensure_ascii=False) + "\n"
        with self._path.open("ab") as file:
            file.write(line.encode(errors="replace"))
            file.flush()
            os.fsync(file.fileno())
