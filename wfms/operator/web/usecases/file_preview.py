"""The preview of a file.

The kind is determined from the content and not from its declared type. Browsers never run it.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn

#: Rows and columns of a table, and characters of a cell, that are shown.
MAX_ROWS, MAX_COLUMNS, MAX_LETTERS = 100, 30, 200
#: Bytes of a binary file that are shown, and bytes in a line.
MAX_DUMPED_BYTES, BYTES_IN_LINE = 256, 16
#: Limit of the indented JSON in characters: the larger of a constant and a multiple of its size.
#: Each nesting level widens every line.
MAX_INDENTED, MAX_GROWTH = 1024 * 1024, 4

#: Signatures of picture formats that browsers show and that cannot contain scripts.
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
#: A token of JSON; a string is one token.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}:,]|[^][{}:,"\s]+')
_OPENING, _CLOSING, _INDENT = ("[", "{"), ("]", "}"), "  "
_DELIMITERS = {"csv": ",;\t", "tsv": "\t"}


class PreviewKind(StrEnum):
    """The kind of a preview."""

    EMPTY = "empty"
    IMAGE = "image"
    JSON = "json"
    TABLE = "table"
    TEXT = "text"
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class Preview:
    """The part of a file that is shown.

    Attributes:
        size_shown: Bytes of the file that the preview was made from.
        cut: Whether there is more than is shown.
        text: The text, indented JSON or dump.
        rows: The rows of a table, with the heading first.
    """

    kind: PreviewKind
    size_shown: int
    cut: bool
    text: str = ""
    rows: list[list[str]] = field(default_factory=list)


def image_type(head: bytes) -> str | None:
    """Return the media type of a picture that begins so, or None if it is not shown."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((media for start, media in _IMAGES if head.startswith(start)), None)


def make_preview(name: str, head: bytes, size: int) -> Preview:
    """Return the preview of a file from its beginning."""
    cut = size > len(head)
    if not head:
        return Preview(PreviewKind.EMPTY, 0, cut)
    if image_type(head) is not None:
        return Preview(PreviewKind.IMAGE, len(head), cut)
    text = _decode(head, cut=cut)
    if text is None:
        return Preview(
            PreviewKind.BINARY,
            min(len(head), MAX_DUMPED_BYTES),
            size > MAX_DUMPED_BYTES,
            _dump(head[:MAX_DUMPED_BYTES]),
        )
    ending = name.rpartition(".")[2].lower()
    if (
        not cut
        and (text.lstrip()[:1] in {"{", "["} or ending == "json")
        and (pretty := _format_json(text)) is not None
    ):
        return Preview(PreviewKind.JSON, len(head), cut, pretty)
    if (
        ending in _DELIMITERS
        and (rows := _parse_table(text, _DELIMITERS[ending], cut=cut)) is not None
    ):
        return Preview(
            PreviewKind.TABLE, len(head), cut or len(rows) > MAX_ROWS, rows=rows[: MAX_ROWS + 1]
        )
    return Preview(PreviewKind.TEXT, len(head), cut, text)


def _decode(head: bytes, *, cut: bool) -> str | None:
    """Return the beginning as text without a truncated character, or None if it is not UTF-8."""
    if b"\0" in head:
        return None
    for omitted in range(4 if cut else 1):
        try:
            return head[: len(head) - omitted].decode("utf-8-sig")
        except UnicodeDecodeError:
            continue
    return None


def _format_json(text: str) -> str | None:
    """Return indented JSON, or None if the text is no JSON, too deep or too large.

    Only white space changes: digits of numbers, duplicate keys and escapes stay as they are.
    """
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    characters_left = max(MAX_INDENTED, MAX_GROWTH * len(text))
    pieces = []
    for piece in _indent_parts(text):
        characters_left -= len(piece)
        if characters_left < 0:
            return None
        pieces.append(piece)
    return "".join(pieces)


def _no_number(name: str) -> NoReturn:
    """Reject NaN and Infinity, which are not valid JSON."""
    raise ValueError(name)


def _indent_parts(text: str) -> Iterator[str]:
    """Yield the parts of valid JSON, with lists and objects that are not empty on several lines."""
    depth, previous = 0, ""
    for token in _TOKEN.finditer(text):
        part = token[0]
        if part in _CLOSING:
            depth -= 1
        if previous and ((previous in _OPENING) != (part in _CLOSING) or previous == ","):
            yield "\n" + _INDENT * depth
        yield ": " if part == ":" else part
        if part in _OPENING:
            depth += 1
        previous = part


def _parse_table(text: str, delimiters: str, *, cut: bool) -> list[list[str]] | None:
    """Return the rows of a table, or None if the text has fewer than two columns."""
    if cut:
        text = text.rpartition("\n")[0]
    first = text.partition("\n")[0]
    delimiter = max(delimiters, key=first.count)
    try:
        rows = [
            row
            for _, row in zip(
                range(MAX_ROWS + 2),
                csv.reader(io.StringIO(text), delimiter=delimiter),
                strict=False,
            )
        ]
    except csv.Error:
        return None
    if not rows or len(rows[0]) < 2:
        return None
    return [[cell[:MAX_LETTERS] for cell in row[:MAX_COLUMNS]] for row in rows if row]


def _dump(data: bytes) -> str:
    lines = []
    for start in range(0, len(data), BYTES_IN_LINE):
        piece = data[start : start + BYTES_IN_LINE]
        letters = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in piece)
        lines.append(f"{start:08x}  {piece.hex(' '):<{3 * BYTES_IN_LINE}} {letters}")
    return "\n".join(lines)
