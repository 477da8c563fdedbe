"""Pages that are damaged on purpose, as scanners, disks and people damage them."""

import struct
import zlib
from collections.abc import Callable
from typing import Literal

import numpy as np

from ocr.images import encode_image

_PNG = b"\x89PNG\r\n\x1a\n"
Format = Literal["png", "jpg"]


def _cut(content: bytes, _format: Format) -> bytes:
    return content[: len(content) * 2 // 5]


def _text(_content: bytes, _format: Format) -> bytes:
    return b"This is a letter about a page, and no page.\n"


def _empty(_content: bytes, _format: Format) -> bytes:
    return b""


def _zero(_content: bytes, _format: Format) -> bytes:
    return _make_png(0, 0)


def _huge(_content: bytes, _format: Format) -> bytes:
    return _make_png(60_000, 60_000)


def _blank(_content: bytes, file_format: Format) -> bytes:
    return encode_image(np.full((1414, 1000), 250, np.uint8), file_format)


def _make_png(width: int, height: int) -> bytes:
    """Return a PNG file whose header declares that size.

    It contains at most the first 64 rows, compressed well.
    """
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes((width + 1) * min(height, 64)), 9)
    return _PNG + _chunk(b"IHDR", header) + _chunk(b"IDAT", rows) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


#: Functions by name. Each returns a damaged copy of a page's file.
DAMAGES: dict[str, Callable[[bytes, Format], bytes]] = {
    "cut": _cut,
    "text": _text,
    "empty": _empty,
    "zero": _zero,
    "huge": _huge,
    "blank": _blank,
}
