"""Makes the preview of a file: judged by its beginning, never by what it says of itself, and never
run by a browser."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn

#: Rows and columns of a table, and letters of a cell, that are shown.
MOST_ROWS, MOST_COLUMNS, MOST_LETTERS = 100, 30, 200
#: Bytes of a file that is no text that are shown, and how many in a line.
DUMPED, IN_A_LINE = 256, 16
#: Characters of JSON set out in lines, or so many times its own where that is more: each level of
#: lists widens every line.
MOST_SET_OUT, TIMES_ITS_OWN = 1024 * 1024, 4

#: How pictures begin that browsers show and that cannot do anything.
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
#: What JSON consists of; a string is one.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}:,]|[^][{}:,"\s]+')
_OPENING, _CLOSING, _INDENT = ("[", "{"), ("]", "}"), "  "
_DELIMITERS = {"csv": ",;\t", "tsv": "\t"}


class PreviewKind(StrEnum):
    EMPTY = "empty"
    IMAGE = "image"
    JSON = "json"
    TABLE = "table"
    TEXT = "text"
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class Preview:
    """``text``: of a text, of JSON, or of a dump. ``rows``: of a table, its heading first.
    ``shown``: bytes of the file it was made from; ``cut``: that there is more than is shown."""

    kind: PreviewKind
    shown: int
    cut: bool
    text: str = ""
    rows: list[list[str]] = field(default_factory=list)


def image_type(head: bytes) -> str | None:
    """The media type of a picture that begins so; None: it is none that is shown."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((media for start, media in _IMAGES if head.startswith(start)), None)


def preview_of(name: str, head: bytes, size: int) -> Preview:
    """``head``: the beginning of the file, or all of it."""
    cut = size > len(head)
    if not head:
        return Preview(PreviewKind.EMPTY, 0, cut)
    if image_type(head) is not None:
        return Preview(PreviewKind.IMAGE, len(head), cut)
    text = _text_of(head, cut=cut)
    if text is None:
        return Preview(
            PreviewKind.BINARY, min(len(head), DUMPED), size > DUMPED, _dump(head[:DUMPED])
        )
    ending = name.rpartition(".")[2].lower()
    if (
        not cut
        and (text.lstrip()[:1] in {"{", "["} or ending == "json")
        and (pretty := _pretty(text)) is not None
    ):
        return Preview(PreviewKind.JSON, len(head), cut, pretty)
    if ending in _DELIMITERS and (rows := _table(text, _DELIMITERS[ending], cut=cut)) is not None:
        return Preview(
            PreviewKind.TABLE, len(head), cut or len(rows) > MOST_ROWS, rows=rows[: MOST_ROWS + 1]
        )
    return Preview(PreviewKind.TEXT, len(head), cut, text)


def _text_of(head: bytes, *, cut: bool) -> str | None:
    """None where it is not valid UTF-8 text. A letter that the cut went through is left out."""
    if b"\0" in head:
        return None
    for left_out in range(4 if cut else 1):
        try:
            return head[: len(head) - left_out].decode("utf-8-sig")
        except UnicodeDecodeError:
            continue
    return None


def _pretty(text: str) -> str | None:
    """The very text, with other white space: a number's digits, a key that is there twice and the
    way a letter is written stay. None where it is no JSON, or too deep or too large once it is set
    out."""
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    room = max(MOST_SET_OUT, TIMES_ITS_OWN * len(text))
    pieces = []
    for piece in _set_out(text):
        room -= len(piece)
        if room < 0:
            return None
        pieces.append(piece)
    return "".join(pieces)


def _no_number(name: str) -> NoReturn:
    """NaN and Infinity, which are no JSON."""
    raise ValueError(name)


def _set_out(text: str) -> Iterator[str]:
    """Precondition: it is JSON. Its parts, each list and object over several lines unless it is
    empty."""
    depth, before = 0, ""
    for found in _TOKEN.finditer(text):
        part = found[0]
        if part in _CLOSING:
            depth -= 1
        if before and ((before in _OPENING) != (part in _CLOSING) or before == ","):
            yield "\n" + _INDENT * depth
        yield ": " if part == ":" else part
        if part in _OPENING:
            depth += 1
        before = part


def _table(text: str, delimiters: str, *, cut: bool) -> list[list[str]] | None:
    """None where it is no table of at least two columns."""
    if cut:
        text = text.rpartition("\n")[0]
    first = text.partition("\n")[0]
    delimiter = max(delimiters, key=first.count)
    try:
        rows = [
            row
            for _, row in zip(
                range(MOST_ROWS + 2),
                csv.reader(io.StringIO(text), delimiter=delimiter),
                strict=False,
            )
        ]
    except csv.Error:
        return None
    if not rows or len(rows[0]) < 2:
        return None
    return [[cell[:MOST_LETTERS] for cell in row[:MOST_COLUMNS]] for row in rows if row]


def _dump(data: bytes) -> str:
    lines = []
    for start in range(0, len(data), IN_A_LINE):
        piece = data[start : start + IN_A_LINE]
        letters = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in piece)
        lines.append(f"{start:08x}  {piece.hex(' '):<{3 * IN_A_LINE}} {letters}")
    return "\n".join(lines)
