"""Copies of open local files that keep the holes of sparse files."""

import hashlib
import io
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO, Literal

from sluice.storage.checksums import CHUNK
from sluice.storage.entries import StoredFile

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

#: Zero bytes of this number become a hole. ``open_sparse_writer`` writes as many bytes at once.
PIECE = 1 << 16

#: Data without this many zeros in a row are written as they are.
_MIN_HOLE = bytes(4096)


def copy_hashed(
    source: int, target: int | None, *, check: Callable[[], None] | None = None
) -> StoredFile:
    """Copy an open file, and return its size and checksum.

    Args:
        source: The descriptor of the file, which is read from its start.
        target: The descriptor of the copy, as in ``copy_open``. With None, the file is only read.
        check: Is called before each read. An exception of it stops the copy.

    Raises:
        OSError: The file cannot be read, or the copy cannot be written.
    """
    digest = hashlib.sha256()
    size = 0
    for data in _copied(source, target, check):
        digest.update(data)
        size += len(data)
    return StoredFile(size, f"sha256:{digest.hexdigest()}")


def compute_file_checksum(
    path: str | os.PathLike[str], *, check: Callable[[], None] | None = None
) -> str:
    """Return ``sha256:<hex>`` of a local file's content; ``check`` as in ``copy_hashed``.

    Raises:
        OSError: The file cannot be read.
    """
    with open(path, "rb", buffering=0) as file:
        return copy_hashed(file.fileno(), None, check=check).checksum


def copy_open(source: int, target: int) -> None:
    """Copy an open file.

    Args:
        source: The descriptor of the file, which is read from its start.
        target: The descriptor of the copy, which is written from its start. Old content may remain
            after the end of the copy.

    Raises:
        OSError: The file cannot be read, or the copy cannot be written.
    """
    for _ in _copied(source, target, None):
        pass


def open_sparse_writer(path: str | os.PathLike[str], mode: Literal["w", "x"] = "x") -> BinaryIO:
    """Open a file for writing, in which long runs of zeros become holes.

    Raises:
        OSError: The file cannot be created.
    """
    return io.BufferedWriter(_SparseFile(path, mode), PIECE)


class _SparseFile(io.FileIO):
    """A file in which writes of only zeros become holes."""

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write data, or leave a hole if all of it is zeros."""
        content = bytes(data)
        if _is_zeros(content):
            self.seek(len(content), os.SEEK_CUR)
            return len(content)
        return super().write(content)

    def close(self) -> None:
        """Close the file. A hole at its end counts."""
        try:
            if not self.closed:
                self.truncate()
        finally:
            super().close()


def write_all(target: int, data: bytes) -> None:
    """Write all data. A full disk takes the first part, and the next write fails."""
    while data:
        data = data[os.write(target, data) :]


def _copied(source: int, target: int | None, check: Callable[[], None] | None) -> Iterator[bytes]:
    """Copy piece by piece, and yield the data of each piece.

    Holes are made of zeros that were read. ``SEEK_DATA`` is not used to find holes: some file
    systems have skipped recently written data there.
    """
    os.lseek(source, 0, os.SEEK_SET)
    if target is not None:
        os.lseek(target, 0, os.SEEK_SET)
    while data := _read(source, check):
        if target is not None:
            _write_with_holes(target, data)
        yield data


def _read(source: int, check: Callable[[], None] | None) -> bytes:
    if check is not None:
        check()
    return os.read(source, CHUNK)


def _write_with_holes(target: int, data: bytes) -> None:
    if _MIN_HOLE not in data:
        write_all(target, data)
        return
    for start in range(0, len(data), PIECE):
        piece = data[start : start + PIECE]
        if not _is_zeros(piece):
            write_all(target, piece)
            continue
        position = os.lseek(target, len(piece), os.SEEK_CUR)
        # A copy over an old file must not keep old data in the hole.
        os.ftruncate(target, position - len(piece))
        os.ftruncate(target, position)


def _is_zeros(data: bytes) -> bool:
    return data[:1] == data[-1:] == b"\0" and data == bytes(len(data))
