"""Copies of open local files that keep the holes of sparse files."""

import errno
import hashlib
import io
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO, Literal

from sluice.storage.checksums import CHUNK
from sluice.storage.entries import Stored

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

#: Bytes that ``sparse_writer`` writes at once.
PIECE = 1 << 16

_ZEROS = bytes(CHUNK)
#: Size of the blocks that ``st_blocks`` counts.
_BLOCK = 512


def copy_hashed(
    source: int, target: int | None, *, check: Callable[[], None] | None = None
) -> Stored:
    """Copy an open file, and return its size and checksum.

    Args:
        source: Descriptor of the file, which is read from its beginning.
        target: Descriptor of the copy, as in ``copy_open``; None: the file is only read.
        check: Called before each read; what it raises breaks off a long copy.

    Raises:
        OSError: The file cannot be read, or the copy not be written.
    """
    digest = hashlib.sha256()
    size = 0
    for piece in _written(source, target, check):
        if isinstance(piece, bytes):
            digest.update(piece)
            size += len(piece)
            continue
        size += piece
        for left in range(piece, 0, -CHUNK):
            if check is not None:
                check()
            digest.update(_ZEROS if left >= CHUNK else bytes(left))
    return Stored(size, f"sha256:{digest.hexdigest()}")


def file_checksum(path: str | os.PathLike[str], *, check: Callable[[], None] | None = None) -> str:
    """Return ``sha256:<hex>`` of a local file's content; ``check`` as in ``copy_hashed``.

    Raises:
        OSError: The file cannot be read.
    """
    with open(path, "rb", buffering=0) as file:
        return copy_hashed(file.fileno(), None, check=check).checksum


def copy_open(source: int, target: int) -> None:
    """Copy an open file.

    Args:
        source: Descriptor of the file, which is read from its beginning.
        target: Descriptor of the copy, which is written from its beginning. What it held before
            may stay behind the end of what is written.

    Raises:
        OSError: The file cannot be read, or the copy not be written.
    """
    for _ in _written(source, target, None):
        pass


def sparse_writer(path: str | os.PathLike[str], mode: Literal["w", "x"] = "x") -> BinaryIO:
    """Open a file for writing, in which long runs of zeros become holes.

    Raises:
        OSError: The file cannot be made.
    """
    return io.BufferedWriter(_SparseFile(path, mode), PIECE)


class _SparseFile(io.FileIO):
    """A file in which holes stand for writes of zeros alone."""

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write data, or leave a hole where all of it is zeros."""
        content = bytes(data)
        if content and content[0] == content[-1] == 0 and content == bytes(len(content)):
            self.seek(len(content), os.SEEK_CUR)
            return len(content)
        return super().write(content)

    def close(self) -> None:
        """Close the file; a hole at its end counts."""
        try:
            if not self.closed:
                self.truncate()
        finally:
            super().close()


def write_all(target: int, data: bytes) -> None:
    """Write data. A disk that fills up takes the first part only; the next write says so."""
    while data:
        data = data[os.write(target, data) :]


def _written(
    source: int, target: int | None, check: Callable[[], None] | None
) -> Iterator[bytes | int]:
    """Copy piece by piece; yield the data of each piece, or the length of a hole."""
    if target is not None:
        os.lseek(target, 0, os.SEEK_SET)
    ends_in_hole = False
    for piece in _pieces(source, check):
        ends_in_hole = isinstance(piece, int)
        if target is not None:
            if isinstance(piece, bytes):
                write_all(target, piece)
            else:
                # A copy that is written over must not keep what stood where the hole is.
                os.ftruncate(target, os.lseek(target, 0, os.SEEK_CUR))
                os.lseek(target, piece, os.SEEK_CUR)
        yield piece
    if target is not None and ends_in_hole:
        os.ftruncate(target, os.lseek(target, 0, os.SEEK_CUR))


def _pieces(source: int, check: Callable[[], None] | None) -> Iterator[bytes | int]:
    """Yield the data of a file, and the lengths of the holes between."""
    status = os.fstat(source)
    position = os.lseek(source, 0, os.SEEK_SET)
    is_sparse = status.st_blocks * _BLOCK < status.st_size
    while is_sparse and (extent := _next_data(source, position)) is not None:
        start, end = extent
        if start > position:
            yield start - position
        position = os.lseek(source, start, os.SEEK_SET)
        while position < end and (data := _read(source, min(CHUNK, end - position), check)):
            position += len(data)
            yield data
        if position < end:  # it became shorter meanwhile
            return
    if not is_sparse:
        while data := _read(source, CHUNK, check):
            yield data
    elif (size := os.fstat(source).st_size) > position:
        yield size - position


def _read(source: int, length: int, check: Callable[[], None] | None) -> bytes:
    if check is not None:
        check()
    return os.read(source, length)


def _next_data(source: int, position: int) -> tuple[int, int] | None:
    """Return where the next data begin and end; None where nothing but a hole follows."""
    try:
        start = os.lseek(source, position, os.SEEK_DATA)
        return start, os.lseek(source, start, os.SEEK_HOLE)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        if error.errno != errno.EINVAL:
            raise
    size = os.fstat(source).st_size  # of a file system that does not tell where holes are
    return (position, size) if size > position else None
