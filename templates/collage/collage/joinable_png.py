"""PNG files that are joined side by side without decoding them.

A picture is encoded once. A join copies the compressed rows of the pictures one after another.
Memory does not grow with the pictures, and a join costs no more than copying files.

Three properties make that possible, and each file is still an ordinary PNG (ISO/IEC 15948):

- Each row has the filter *Up*, which reads only the row above.
- The pixels of each row are compressed separately and end on a byte (a full flush, RFC 1951). The
  byte of the filter is in a stored block before them.
- A private chunk ``slRW`` has two unsigned 32-bit numbers, big-endian, for each row: the length of
  its compressed pixels and the Adler-32 of its filtered pixels. They give the checksum of the
  joined data (RFC 1950).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from PIL import Image, ImageChops

from sluice.packs.programs import BadData, MissingInput, reason_in

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_INDEX = b"slRW"
#: A stored block with the byte of the filter Up.
_FILTER = b"\x00\x01\x00\xfe\xff\x02"
_FILTER_ADLER = zlib.adler32(b"\x02")
_ZLIB_HEADER, _LAST_BLOCK = b"\x78\x01", b"\x01\x00\x00\xff\xff"
#: Bytes of pixel data in a written chunk, and bytes that are copied at a time.
_CHUNK, _PIECE = 1 << 20, 1 << 16
_ADLER_BASE = 65521
_CHANNELS = 3


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a picture.

    ``length`` is the number of bytes of its compressed pixels, ``adler`` the Adler-32 of its
    filtered pixels.
    """

    length: int
    adler: int


def write_joinable(picture: Image.Image, path: Path) -> None:
    """Write an RGB picture as a PNG that can be joined."""
    above = Image.new("RGB", picture.size)
    above.paste(picture, (0, 1))
    filtered = memoryview(ImageChops.subtract_modulo(picture, above).tobytes())
    stride = picture.width * _CHANNELS
    compressor = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    rows, parts = [], []
    for start in range(0, len(filtered), stride):
        pixels = filtered[start : start + stride]
        part = compressor.compress(pixels) + compressor.flush(zlib.Z_FULL_FLUSH)
        rows.append(Row(len(part), zlib.adler32(pixels)))
        parts.append(part)
    with path.open("wb") as file:
        _write(file, picture.width, rows, iter([part] for part in parts))


def join(paths: Sequence[Path], out: Path) -> None:
    """Write the pictures side by side, from left to right, as one picture.

    Args:
        paths: At least one file written by ``write_joinable`` or ``join``. All are open at once.
        out: The joined picture.

    Raises:
        MissingInput: A picture cannot be opened.
        BadData: A picture is damaged, or is not as high as the first.
    """
    with ExitStack() as stack:
        readers = [stack.enter_context(_Reader(path)) for path in paths]
        height = len(readers[0].rows)
        for reader in readers:
            if len(reader.rows) != height:
                reason = f"it is {len(reader.rows)} pixels high, and {paths[0].name} {height}"
                raise BadData(reader.path, reason)
        rows = [_join_row(readers, number) for number in range(height)]
        parts = (
            (piece for reader in readers for piece in reader.read_pixels(number))
            for number in range(height)
        )
        with out.open("wb") as file:
            _write(file, sum(reader.width for reader in readers), rows, parts)
        for reader in readers:
            reader.finish()


def is_joinable(path: Path) -> bool:
    """Return whether a file has the beginning of the files of this module.

    Raises:
        MissingInput: The file cannot be opened.
    """
    try:
        with path.open("rb") as file:
            head = file.read(len(_SIGNATURE) + 25 + 8)
    except OSError as error:
        raise MissingInput(path, reason_in(error)) from error
    return head.startswith(_SIGNATURE) and head.endswith(_INDEX)


def combine_adler(first: int, second: int, length: int) -> int:
    """Return the Adler-32 of two parts of data (RFC 1950, section 8.2).

    Args:
        first: The checksum of the first part.
        second: The checksum of the second part.
        length: The number of bytes of the second part.
    """
    low = ((first & 0xFFFF) + (second & 0xFFFF) - 1) % _ADLER_BASE
    high = ((first >> 16) + (second >> 16) + length * (first & 0xFFFF) - length) % _ADLER_BASE
    return high << 16 | low


def _join_row(readers: Sequence[_Reader], number: int) -> Row:
    length, adler = 0, 1
    for reader in readers:
        row = reader.rows[number]
        length += row.length
        adler = combine_adler(adler, row.adler, reader.width * _CHANNELS)
    return Row(length, adler)


def _write(
    file: BinaryIO, width: int, rows: Sequence[Row], parts: Iterator[Iterator[bytes] | list[bytes]]
) -> None:
    """Write a PNG. ``parts`` has the compressed pixels of each row, in pieces."""
    file.write(_SIGNATURE)
    _write_chunk(file, b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 8, 2, 0, 0, 0))
    numbers = [number for row in rows for number in (row.length, row.adler)]
    _write_chunk(file, _INDEX, struct.pack(f">{len(numbers)}I", *numbers))
    data, adler = bytearray(_ZLIB_HEADER), 1
    for row, pieces in zip(rows, parts, strict=True):
        data += _FILTER
        for piece in pieces:
            data += piece
            while len(data) >= _CHUNK:
                _write_chunk(file, b"IDAT", data[:_CHUNK])
                del data[:_CHUNK]
        adler = combine_adler(adler, _FILTER_ADLER, 1)
        adler = combine_adler(adler, row.adler, width * _CHANNELS)
    data += _LAST_BLOCK + struct.pack(">I", adler)
    _write_chunk(file, b"IDAT", data)
    _write_chunk(file, b"IEND", b"")


def _write_chunk(file: BinaryIO, kind: bytes, content: bytes | bytearray) -> None:
    file.write(struct.pack(">I", len(content)) + kind)
    file.write(content)
    file.write(struct.pack(">I", zlib.crc32(content, zlib.crc32(kind))))


class _Reader:
    """A reader of the rows of a joinable picture in order, which checks each chunk."""

    def __init__(self, path: Path) -> None:
        """Open a picture and read its rows' lengths and checksums.

        Raises:
            MissingInput: The file cannot be opened.
            BadData: The file is no joinable picture.
        """
        self.path = path
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise MissingInput(path, reason_in(error)) from error
        self._remaining, self._checksum = 0, 0
        try:
            self._read_head()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read_pixels(self, number: int) -> Iterator[bytes]:
        """Yield the compressed pixels of the next row, which has this number, in pieces."""
        self._skip(len(_FILTER))
        remaining = self.rows[number].length
        while remaining:
            piece = self._read_data(min(remaining, _PIECE))
            remaining -= len(piece)
            yield piece

    def finish(self) -> None:
        """Read to the end, which checks the last checksum.

        Raises:
            BadData: The file is damaged.
        """
        self._skip(len(_LAST_BLOCK) + 4)
        self._read_chunk(b"IEND")

    def _read_head(self) -> None:
        if self._read_exactly(len(_SIGNATURE)) != _SIGNATURE:
            raise BadData(self.path, "it is not a PNG")
        self.width, height = struct.unpack_from(">II", self._read_chunk(b"IHDR"))
        index = self._read_chunk(_INDEX)
        if len(index) != 8 * height:
            raise BadData(self.path, "it is damaged: its index does not have all rows")
        numbers = struct.unpack(f">{2 * height}I", index)
        self.rows = [Row(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
        self._skip(len(_ZLIB_HEADER))

    def _read_chunk(self, kind: bytes) -> bytes:
        length, actual_kind = struct.unpack(">I4s", self._read_exactly(8))
        if actual_kind != kind:
            raise BadData(self.path, f"it is damaged: no chunk {kind.decode()}")
        content = self._read_exactly(length)
        self._require_checksum(zlib.crc32(content, zlib.crc32(kind)))
        return content

    def _skip(self, length: int) -> None:
        while length:
            length -= len(self._read_data(length))

    def _read_data(self, max_bytes: int) -> bytes:
        """Return at least one byte of pixel data, from one chunk."""
        while not self._remaining:
            length, kind = struct.unpack(">I4s", self._read_exactly(8))
            if kind != b"IDAT":
                raise BadData(self.path, "it is cut off: rows are missing")
            self._remaining, self._checksum = length, zlib.crc32(kind)
        piece = self._read_exactly(min(max_bytes, self._remaining))
        self._remaining -= len(piece)
        self._checksum = zlib.crc32(piece, self._checksum)
        if not self._remaining:
            self._require_checksum(self._checksum)
        return piece

    def _require_checksum(self, checksum: int) -> None:
        if struct.unpack(">I", self._read_exactly(4))[0] != checksum:
            raise BadData(self.path, "it is damaged: the checksum of a chunk is wrong")

    def _read_exactly(self, length: int) -> bytes:
        content = self._file.read(length)
        if len(content) < length:
            raise BadData(self.path, "it is cut off")
        return content
