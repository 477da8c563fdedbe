"""Pages in files of JSON Lines: one file for a parish, one line for a page."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sluice.packs.programs import BadData, MissingInput, parse_json, reason_in
from sluice.text.visible_text import quoted

#: The fields of a crawled page.
CRAWLED = ("url", "previous_url", "start_url", "domain", "html", "link_text")

_SURROGATE = re.compile("[\ud800-\udfff]")

#: The values of a line by field.
Line = Mapping[str, Any]


def read_lines(path: Path, *, fields: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file, which may be larger than the memory.

    Each of ``fields`` must be a text.

    Raises:
        MissingInput: The file cannot be opened.
        BadData: A line is wrong; the error has its number.
    """
    required = tuple(fields)
    try:
        with path.open("rb") as file:
            for number, text in enumerate(file, 1):
                if text.strip():
                    yield _parse_line(path, number, text, required)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
        raise MissingInput(path, reason_in(error)) from error


def _parse_line(
    path: Path, number: int, text: bytes, required_fields: Iterable[str]
) -> dict[str, Any]:
    line = parse_json(path, text.rstrip(b"\r\n"), number)
    if not isinstance(line, dict):
        raise BadData(path, "not a JSON object", line=number)
    for name in required_fields:
        if not isinstance(line.get(name), str):
            raise BadData(path, f"there is no text {quoted(name)}", line=number)
        if _SURROGATE.search(line[name]):
            raise BadData(path, f"{quoted(name)} contains an unpaired surrogate", line=number)
    return line


def write_lines(path: Path, lines: Iterable[Line]) -> int:
    """Write lines, and return their number.

    No reader sees an incomplete file.
    """
    partial, number = path.with_name(f".{path.name}.part"), 0
    try:
        with partial.open("wb") as file:
            for line in lines:
                file.write(json.dumps(line, ensure_ascii=False).encode(errors="replace") + b"\n")
                number += 1
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return number


def transform_lines(
    source: Path,
    out: Path,
    change: Callable[[dict[str, Any]], Iterable[Line]],
    *,
    fields: Iterable[str],
) -> int:
    """Write the lines that ``change`` returns for each line, and return their number."""
    lines = read_lines(source, fields=fields)
    return write_lines(out, (new for line in lines for new in change(line)))
