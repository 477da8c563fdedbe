"""A cache of answers of a places API in a file, so that no request is paid for twice."""

import json
import os
from pathlib import Path
from typing import Any

from sluice.packs.programs import BadData


class Cache:
    """JSON Lines of requests and their answers.

    A line is on the disk before its answer is used. An incomplete last line is removed.

    Raises:
        BadData: The file has other content.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answers: dict[tuple[str, ...], Any] = {}
        content = path.read_bytes() if path.exists() else b""
        complete = content[: content.rfind(b"\n") + 1]
        for number, line in enumerate(complete.splitlines(), 1):
            try:
                entry = json.loads(line)
                self._answers[tuple(map(str, entry["request"]))] = entry["answer"]
            except (ValueError, TypeError, KeyError) as error:
                raise BadData(path, f"line {number} is not an answer of a places API") from error
        if complete != content:
            os.truncate(path, len(complete))

    def __contains__(self, request: tuple[str, ...]) -> bool:
        return request in self._answers

    def get(self, request: tuple[str, ...]) -> Any:
        """Return the answer to a request that is in the cache."""
        return self._answers[request]

    def put(self, request: tuple[str, ...], answer: Any) -> None:
        """Add an answer, and write it to the disk."""
        self._answers[request] = answer
        line = json.dumps({"request": request, "answer": answer}, ensure_ascii=False) + "\n"
        with self._path.open("ab") as file:
            file.write(line.encode(errors="replace"))
            file.flush()
            os.fsync(file.fileno())
